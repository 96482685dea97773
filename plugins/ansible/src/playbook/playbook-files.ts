import { cp, mkdir, stat } from 'node:fs/promises';
import { basename, dirname, isAbsolute, join } from 'node:path';
import { type BaseScope, FatalError } from '@baton/plugin-sdk';
import { requireInside } from '../settings/inside';
import type { Settings } from '../settings/settings';
import { unpack } from './unpack';

/**
 * Brings the playbook with its folder, or with the files that `additional_playbook_files` names, into `folder`.
 * @returns the path of the playbook there
 * @throws FatalError for a path that leads out, and for one that is not there
 */
export async function placePlaybook(scope: BaseScope, settings: Settings, folder: string): Promise<string> {
  const name = settings.playbook_path !== '' ? 'playbook_path' : 'site_yaml_path';
  const path = settings[name];
  if (path === '') throw new FatalError('playbook_path: there is none');
  const inside = requireInside(path, name);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const playbook = await bring(scope, settings, inside, folder);
  if (!(await stat(playbook).catch(() => null))?.isFile())
    throw new FatalError(
      `${name}: there is no file ${path} in ${settings.playbook_source_path || 'the blueprint'}`,
    );
  return playbook;
}

async function bring(
  scope: BaseScope,
  { playbook_source_path: source, additional_playbook_files: files }: Settings,
  path: string,
  folder: string,
): Promise<string> {
  const { ctx } = scope;
  if (/^[a-z]+:\/\//i.test(source) || /\.(zip|tar|tar\.gz|tgz)$/i.test(source)) {
    await unpack(scope, source, folder);
    return join(folder, path);
  }
  if (isAbsolute(source)) {
    // What the isolation shows of the machine; a script of the blueprint sees the same.
    await cp(source, folder, { recursive: true }).catch((cause: Error) => {
      throw new FatalError(`playbook_source_path: ${source} cannot be read: ${cause.message}`, { cause });
    });
    return join(folder, path);
  }
  if (source !== '') {
    await ctx.downloadDirectory(requireInside(source, 'playbook_source_path'), folder);
    return join(folder, path);
  }
  if (files.length === 0) {
    await ctx.downloadDirectory(dirname(path), folder);
    return join(folder, basename(path));
  }
  for (const file of [path, ...files]) {
    const inside = requireInside(file, 'additional_playbook_files');
    await mkdir(join(folder, dirname(inside)), { recursive: true });
    await ctx.downloadResource(inside, join(folder, inside));
  }
  return join(folder, path);
}
