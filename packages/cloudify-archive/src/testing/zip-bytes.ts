import { ZipFile } from 'yazl';

/** A zip of these entries; names that end with a slash are empty folders. */
export async function zipBytes(entries: Iterable<readonly [string, Buffer]>): Promise<Buffer> {
  const zip = new ZipFile();
  for (const [name, content] of entries) {
    if (name.endsWith('/')) zip.addEmptyDirectory(name);
    else zip.addBuffer(content, name);
  }
  zip.end();
  const pieces: Buffer[] = [];
  for await (const piece of zip.outputStream) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

/** Puts another name of the same length in place of an entry's name: what a writer of zips refuses to write. */
export function withName(zip: Buffer, name: string, hostile: string): Buffer {
  if (Buffer.byteLength(name) !== Buffer.byteLength(hostile)) throw new Error('names must have one length');
  return Buffer.from(zip.toString('latin1').replaceAll(name, hostile), 'latin1');
}

/** Says in every made archive what it is. */
export const MADE_BY = 'made by a generator of Baton for tests; no Cloudify Manager wrote this archive';
