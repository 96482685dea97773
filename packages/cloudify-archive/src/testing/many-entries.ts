/** A zip of empty entries, with names of `nameOf`: only its directory is large. Written by hand, as a writer of zips takes minutes. */
export function manyEntries(count: number, nameOf: (index: number) => string): Buffer {
  const local = Buffer.alloc(30);
  local.writeUInt32LE(0x04034b50, 0);
  const parts: Buffer[] = [];
  for (let i = 0; i < count; i++) {
    const name = Buffer.from(nameOf(i));
    const head = Buffer.alloc(46);
    head.writeUInt32LE(0x02014b50, 0);
    head.writeUInt16LE(name.length, 28);
    parts.push(head, name);
  }
  const directory = Buffer.concat(parts);
  const end = Buffer.alloc(56 + 20 + 22);
  // The end of zip64 and its locator: more entries than 65535.
  end.writeUInt32LE(0x06064b50, 0);
  end.writeBigUInt64LE(44n, 4);
  end.writeBigUInt64LE(BigInt(count), 24);
  end.writeBigUInt64LE(BigInt(count), 32);
  end.writeBigUInt64LE(BigInt(directory.length), 40);
  end.writeBigUInt64LE(BigInt(local.length), 48);
  end.writeUInt32LE(0x07064b50, 56);
  end.writeBigUInt64LE(BigInt(local.length + directory.length), 64);
  end.writeUInt32LE(1, 72);
  end.writeUInt32LE(0x06054b50, 76);
  end.writeUInt16LE(0xffff, 84);
  end.writeUInt16LE(0xffff, 86);
  end.writeUInt32LE(0xffffffff, 88);
  end.writeUInt32LE(0xffffffff, 92);
  return Buffer.concat([local, directory, end]);
}
