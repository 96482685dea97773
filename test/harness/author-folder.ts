/** The folder of an author of a plugin, outside of the repository, with the tools of this checkout. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './processes';

export const cliMain = join(root, 'dist/apps/cli/main.js');

/** Makes the plugin of `baton plugins init` in the folder, whose last part is its name. */
export function makeAuthorFolder(folder: string): void {
  execFileSync(process.execPath, [cliMain, 'plugins', 'init', folder]);
  linkTools(folder);
}

/** Installs what an author installs, from this checkout. */
export function linkTools(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(join(modules, '@baton'), { recursive: true });
  const tools = {
    '@baton/plugin-sdk': 'packages/plugin-sdk',
    esbuild: 'node_modules/esbuild',
    zod: 'packages/plugin-sdk/node_modules/zod',
  };
  for (const [name, path] of Object.entries(tools)) symlinkSync(join(root, path), join(modules, name));
}
