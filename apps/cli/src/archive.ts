import { createReadStream, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

/** Never part of a blueprint. */
const SKIPPED = new Set(['.git', 'node_modules', '.DS_Store']);

export interface PackedBlueprint {
  content: AsyncIterable<Uint8Array>;
  /** Main file inside the archive, null = blueprint.yaml. */
  mainFile: string | null;
}

/**
 * What to upload for `path`: an archive as it is; a YAML file with the folder around it; a folder packed as tar.gz with
 * one top folder. @throws Error when there is nothing at the path.
 */
export function packBlueprint(path: string): PackedBlueprint {
  const full = resolve(path);
  const stat = statSync(full, { throwIfNoEntry: false });
  if (!stat) throw new Error(`${path}: there is no such file or folder`);
  if (stat.isDirectory()) return { content: packFolder(full), mainFile: null };
  if (/\.ya?ml$/i.test(full)) return { content: packFolder(resolve(full, '..')), mainFile: basename(full) };
  return { content: createReadStream(full), mainFile: null };
}

function packFolder(folder: string): AsyncIterable<Uint8Array> {
  const archive = pack();
  const zipped = createGzip();
  const top = basename(folder);
  const write = async () => {
    for (const file of filesBelow(folder)) {
      const { mode } = statSync(file);
      const name = join(top, relative(folder, file)).split('\\').join('/');
      const content = await readFile(file);
      await new Promise<void>((done, fail) =>
        archive.entry({ name, mode }, content, (error) => (error ? fail(error) : done())),
      );
    }
    archive.finalize();
  };
  write().catch((error: Error) => zipped.destroy(error));
  return Readable.from(archive).pipe(zipped);
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .filter((entry) => !SKIPPED.has(entry.name))
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return filesBelow(path);
      return entry.isFile() ? [path] : [];
    });
}
