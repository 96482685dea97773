/** Archives for tests, also such as real packers refuse. */
import { crc32, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

export interface TestEntry {
  name: string;
  content?: string;
  /** Where a link leads. */
  link?: string;
}

export async function tgzOf(entries: readonly TestEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, content = '', link } of entries)
    if (link === undefined) tar.entry({ name, mode: 0o755 }, content);
    else tar.entry({ name, type: 'symlink', linkname: link });
  tar.finalize();
  const pieces: Buffer[] = [];
  for await (const piece of tar) pieces.push(piece as Buffer);
  return gzipSync(Buffer.concat(pieces));
}

/** A zip without compression. */
export function zipOf(entries: readonly TestEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', link } of entries) {
    const bytes = Buffer.from(link ?? content);
    const path = Buffer.from(name);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt32LE(crc32(bytes), 10);
    for (const at of [14, 18]) head.writeUInt32LE(bytes.length, at);
    head.writeUInt16LE(path.length, 22);
    const central = Buffer.alloc(42);
    central.writeUInt16LE((3 << 8) | 20, 0);
    head.copy(central, 2);
    central.writeUInt32LE(((link === undefined ? 0o100755 : 0o120777) << 16) >>> 0, 34);
    central.writeUInt32LE(offset, 38);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), central, path]));
    parts.push(Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, path, bytes]));
    offset += parts.at(-1)!.length;
  }
  const end = Buffer.alloc(18);
  for (const at of [4, 6]) end.writeUInt16LE(entries.length, at);
  end.writeUInt32LE(
    directory.reduce((sum, { length }) => sum + length, 0),
    8,
  );
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
