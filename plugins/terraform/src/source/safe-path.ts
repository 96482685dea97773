import { readdir, realpath, stat } from 'node:fs/promises';
import { isAbsolute, join, normalize, relative, resolve, sep } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';

/** Whether `path` is `folder` or lies in it; both absolute, without links. */
export const isInside = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || (!way.startsWith(`..${sep}`) && way !== '..' && !isAbsolute(way));
};

/**
 * The place of an entry of an archive. @throws FatalError for a name that leads out of the folder, or is no name
 */
export function placeOf(folder: string, name: string): string {
  const clean = normalize(name.replaceAll('\\', '/'));
  if (name.includes('\0') || isAbsolute(clean) || clean.split('/').includes('..') || /^[A-Za-z]:/.test(name))
    throw new FatalError(`the archive of the module holds ${shown(name)}, which leads out of its folder`);
  return join(folder, clean);
}

/**
 * The folder of the module in its source, with links followed. Archives of repositories have one folder at their top: the module may
 * be in it.
 * @throws FatalError when there is none, or it lies outside
 */
export async function moduleFolder(root: string, sourcePath: string): Promise<string> {
  const top = await realpath(root);
  const entries = await readdir(top, { withFileTypes: true });
  const only = entries.length === 1 && entries[0]!.isDirectory() ? [join(top, entries[0]!.name)] : [];
  for (const base of [top, ...only]) {
    const wanted = resolve(base, sourcePath.replace(/^\/+/, ''));
    if (!isInside(base, wanted))
      throw new FatalError(`source_path ${shown(sourcePath)} leads out of the source`);
    const place = await realpath(wanted).catch(() => null);
    if (place === null || !(await stat(place)).isDirectory()) continue;
    if (!isInside(top, place))
      throw new FatalError(`source_path ${shown(sourcePath)} leads out of the source`);
    if ((await readdir(place)).some((name) => /\.(tf|tofu)(\.json)?$/.test(name))) return place;
  }
  const where = sourcePath === '' ? 'the source of the module' : `source_path ${shown(sourcePath)}`;
  throw new FatalError(`${where} holds no .tf file`);
}

export const shown = (text: string): string => JSON.stringify(text).slice(0, 200);
