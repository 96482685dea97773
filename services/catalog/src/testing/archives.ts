/** Valid and malicious archives for tests: any name and type can be written, also those that real packers refuse. */
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { pack } from 'tar-stream';

export interface TestEntry {
  name: string;
  content?: string | Buffer;
  type?: 'file' | 'directory' | 'symlink' | 'link' | 'character-device' | 'fifo';
  link?: string;
  mode?: number;
}

export function tarOf(entries: readonly TestEntry[]): Promise<Buffer> {
  const tar = pack();
  for (const { name, content = '', type = 'file', link, mode = 0o644 } of entries) {
    if (type === 'file')
      tar.entry({ name, mode, mtime: new Date(0), size: Buffer.byteLength(content) }, Buffer.from(content));
    else tar.entry({ name, mode, type, linkname: link });
  }
  tar.finalize();
  return collect(tar as unknown as AsyncIterable<Buffer>);
}

async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

export async function tgzOf(entries: readonly TestEntry[]): Promise<Buffer> {
  return gzipSync(await tarOf(entries));
}

/** Makes a blueprint archive as clients do: with one top folder. */
export function blueprintTgz(files: Record<string, string>, top = 'bp'): Promise<Buffer> {
  return tgzOf(
    Object.entries(files).map(([name, content]) => ({ name: `${top}/${name}`, content, mode: 0o755 })),
  );
}

const MODES: Record<string, number> = {
  file: 0o100644,
  directory: 0o040755,
  symlink: 0o120777,
  'character-device': 0o020644,
  fifo: 0o010644,
};

export function zipOf(entries: readonly TestEntry[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, content = '', type = 'file', link } of entries) {
    const raw = Buffer.from(type === 'symlink' ? (link ?? '') : content);
    const data = deflateRawSync(raw);
    const path = Buffer.from(name);
    const head = Buffer.alloc(26);
    head.writeUInt16LE(20, 0);
    head.writeUInt16LE(0x800, 2);
    head.writeUInt16LE(8, 4);
    head.writeUInt32LE(crc32(raw), 10);
    head.writeUInt32LE(data.length, 14);
    head.writeUInt32LE(raw.length, 18);
    head.writeUInt16LE(path.length, 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), head, path, data]);
    const central = Buffer.alloc(42);
    central.writeUInt16LE((3 << 8) | 20, 0);
    head.copy(central, 2, 0, 26);
    central.writeUInt32LE(((MODES[type] ?? 0o100644) << 16) >>> 0, 34);
    central.writeUInt32LE(offset, 38);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02', 'latin1'), central, path]));
    parts.push(local);
    offset += local.length;
  }
  const size = directory.reduce((n, b) => n + b.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, ...directory, Buffer.from('PK\x05\x06', 'latin1'), end]);
}
