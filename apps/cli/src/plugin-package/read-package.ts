/** Reads the package of a plugin in TypeScript (.bplug). */
import { gunzipSync } from 'node:zlib';
import { extract } from 'tar-stream';
import { CommandFailure } from '../failure';

/** As the manager: what a package may unpack to. */
const MAX_BYTES = 1024 * 1024 * 1024;

/** Returns the content of each entry by its name. @throws CommandFailure that names the file */
export async function entriesOfPackage(archive: Buffer, file: string): Promise<Map<string, Buffer>> {
  const entries = new Map<string, Buffer>();
  try {
    const tar = extract();
    tar.end(gunzipSync(archive, { maxOutputLength: MAX_BYTES }));
    for await (const entry of tar) {
      const { name, type } = entry.header;
      const pieces: Buffer[] = [];
      for await (const piece of entry) pieces.push(piece as Buffer);
      if (type !== 'file') throw new Error(`${name} is no file`);
      if (entries.has(name)) throw new Error(`${name} is there twice`);
      entries.set(name, Buffer.concat(pieces));
    }
  } catch (cause) {
    throw new CommandFailure(`${file}: the package cannot be read: ${(cause as Error).message}`);
  }
  return entries;
}
