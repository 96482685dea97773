import { createReadStream, statSync } from 'node:fs';
import { basename, dirname, resolve } from 'node:path';
import type { CliIo } from './cli-io';
import { CommandFailure } from './failure';
import { progress } from './progress';

export const isUrl = (path: string): boolean => /^https?:\/\//.test(path);

/** Opens a file for an upload, with progress. @throws CommandFailure when there is no such file */
export function fileUpload(io: CliIo, path: string): AsyncIterable<Uint8Array> {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) throw new CommandFailure(`${path}: there is no such file`);
  return createReadStream(path).pipe(progress(io, 'uploaded', found.size));
}

const ARCHIVE = /(\.tar\.(gz|bz2|xz)|\.(tgz|tbz|tar|zip|ya?ml))$/i;

/**
 * Returns the id for an upload without --id: the name of the archive or folder. A `blueprint.yaml` is named like its folder,
 * another YAML file like the file.
 */
export function idFromPath(path: string): string {
  const name = isUrl(path) ? basename(new URL(path).pathname) : basename(resolve(path));
  if (/^blueprint\.ya?ml$/i.test(name) && !isUrl(path)) return basename(dirname(resolve(path)));
  return name.replace(ARCHIVE, '');
}
