import { createReadStream, readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join, relative, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';
import { CommandFailure } from './failure';

/** Names that are never packed into a blueprint. */
const SKIPPED = new Set(['.git', 'node_modules', '.DS_Store']);

export interface PackedBlueprint {
  content: Readable;
  /** Length in bytes; null = not known before it is packed. */
  bytes: number | null;
  /** Main file inside the archive, null = blueprint.yaml. */
  mainFile: string | null;
}

/**
 * Returns the upload for `path`: an archive unchanged; for a YAML file the folder around it; a folder packed as tar.gz with one top
 * folder. @throws CommandFailure when there is nothing at the path.
 */
export function packBlueprint(path: string): PackedBlueprint {
  const full = resolve(path);
  const stat = statSync(full, { throwIfNoEntry: false });
  if (!stat) throw new CommandFailure(`${path}: there is no such file or folder`);
  if (stat.isDirectory()) return { content: packFolder(full), bytes: null, mainFile: null };
  if (/\.ya?ml$/i.test(full))
    return { content: packFolder(resolve(full, '..')), bytes: null, mainFile: basename(full) };
  return { content: createReadStream(full), bytes: stat.size, mainFile: null };
}

function packFolder(folder: string): Readable {
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
