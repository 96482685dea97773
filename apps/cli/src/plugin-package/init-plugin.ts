import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import packageJson from '../../package.json';
import { CommandFailure, UsageFailure } from '../failure';
import { templateFiles } from './template';

const NAME = /^[a-z][a-z0-9-]{0,62}$/;

/**
 * Writes a folder with a new plugin in TypeScript. The last part of the path is its name.
 * @returns the files that were written
 * @throws UsageFailure for a name that cannot be one; CommandFailure for a folder that is not empty
 */
export function initPlugin(path: string): { folder: string; name: string; files: string[] } {
  const folder = resolve(path);
  const name = basename(folder);
  if (!NAME.test(name))
    throw new UsageFailure(
      `${name}: a name of a plugin has small letters, digits and -, and begins with a letter`,
    );
  if (existsSync(folder) && readdirSync(folder).length > 0)
    throw new CommandFailure(`${folder}: the folder is not empty`);
  const files = templateFiles(name, packageJson.version);
  for (const [file, text] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text, { flag: 'wx' });
  }
  return { folder, name, files: files.map(([file]) => file) };
}
