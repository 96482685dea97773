import { createReadStream } from 'node:fs';
import { lstat, readdir, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { FatalError } from '@baton/plugin-sdk';
import { pack as tarPack } from 'tar-stream';

/** Largest packed source. */
const MAX_BYTES = 64 * 1024 * 1024;

/** Folders and files that belong to one run: providers, copies of modules, plans and states are not part of the source. */
const LEFT_OUT = new Set([
  '.terraform',
  '.git',
  'terraform.tfstate',
  'terraform.tfstate.backup',
  '.terraform.tfstate.lock.info',
]);

/** Packs the source of a module as tar.gz, without what terraform has made in it. @throws FatalError when it is too large */
export async function packFolder(folder: string): Promise<Buffer> {
  const tar = tarPack();
  const pieces: Buffer[] = [];
  let bytes = 0;
  const gathering = pipeline(tar, createGzip(), async (packed: AsyncIterable<Buffer>) => {
    for await (const piece of packed) {
      bytes += piece.length;
      if (bytes > MAX_BYTES)
        throw new FatalError(`the source of the module is larger than ${MAX_BYTES} bytes when it is packed`);
      pieces.push(piece);
    }
  });
  gathering.catch((error: Error) => tar.destroy(error));
  await addFolder(tar, folder, '');
  tar.finalize();
  await gathering;
  return Buffer.concat(pieces);
}

async function addFolder(tar: ReturnType<typeof tarPack>, folder: string, prefix: string): Promise<void> {
  for (const name of (await readdir(folder)).sort()) {
    if (LEFT_OUT.has(name)) continue;
    const [place, inside] = [join(folder, name), prefix + name];
    const found = await lstat(place);
    const header = { name: inside, mode: found.mode & 0o777, mtime: new Date(0) };
    if (found.isDirectory()) {
      tar.entry({ ...header, name: `${inside}/`, type: 'directory' });
      await addFolder(tar, place, `${inside}/`);
    } else if (found.isSymbolicLink())
      tar.entry({ ...header, type: 'symlink', linkname: await readlink(place) });
    else if (found.isFile()) {
      const entry = tar.entry({ ...header, size: found.size });
      await pipeline(createReadStream(place), entry);
    }
  }
}
