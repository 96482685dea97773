/** The packages of plugins that come with Baton, beside the bundle of this service (docs/plugins.md). */
import { createHash } from 'node:crypto';
import { createReadStream, type ReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { badParameter, nearestName } from '@baton/kernel';

const SCHEME = 'bundled:';
const ENDING = '.bplug';

/** Whether the address of an upload names such a plugin: `bundled:ansible`. */
export const isBundledUrl = (url: string): boolean => url.startsWith(SCHEME);

/**
 * Opens the package with that name. The name is looked up in the folder, so it cannot lead elsewhere.
 * @throws AppError bad_parameters_error with the nearest name
 */
export async function readBundled(folder: string, url: string): Promise<ReadStream> {
  const wanted = url.slice(SCHEME.length);
  const files = (await readdir(folder).catch((): string[] => []))
    .filter((name) => name.endsWith(ENDING))
    .sort();
  const names = new Map(
    files.map((file) => [file.slice(0, -ENDING.length).replace(/-\d+\.\d+\.\d+.*$/, ''), file]),
  );
  const found = names.get(wanted) ?? names.get(`cloudify-${wanted}-plugin`);
  if (found !== undefined) return createReadStream(join(folder, found));
  throw badParameter('plugin_archive_url', `no plugin \`${wanted}\` comes with this manager`, {
    expected: [...names.keys()],
    nearest: nearestName(wanted, [...names.keys()]),
  });
}

/** Whether the package with that name and SHA-256 (hex) is one that comes with this manager, however it was uploaded. */
export async function isBundled(folder: string, archiveName: string, digest: string): Promise<boolean> {
  if (!(await readdir(folder).catch((): string[] => [])).includes(archiveName)) return false;
  return (
    createHash('sha256')
      .update(await readFile(join(folder, archiveName)))
      .digest('hex') === digest
  );
}
