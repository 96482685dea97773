/** The folder of a plugin in TypeScript: its package.json, and the tools that its author has installed there. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import type * as Esbuild from 'esbuild';
import { CommandFailure } from '../failure';

export const ENTRY = 'src/plugin.ts';
const SDK = '@baton/plugin-sdk';

export interface AuthorFolder {
  path: string;
  name: string;
  version: string;
  description: string;
  /** Version of @baton/plugin-sdk that the plugin is built with. */
  sdk: string;
  esbuild: typeof Esbuild;
  /** A build of an author at work: its version is not that of package.json. */
  development?: { inspectPort: number | null };
}

/** Ending of the versions whose builds a manager may replace. */
const DEV_ENDING = '-dev';

/** The folder for builds of an author at work: of the version `1.2.0-dev`. */
export const underDevelopment = (author: AuthorFolder, inspectPort: number | null): AuthorFolder => ({
  ...author,
  version: author.version.endsWith(DEV_ENDING) ? author.version : `${author.version}${DEV_ENDING}`,
  development: { inspectPort },
});

/** @throws CommandFailure that names the file or package that is missing */
export function readAuthorFolder(folder: string): AuthorFolder {
  const path = resolve(folder);
  const manifestFile = join(path, 'package.json');
  if (!existsSync(manifestFile))
    throw new CommandFailure(
      `${manifestFile}: there is no such file; \`baton plugins init NAME\` makes a folder`,
    );
  if (!existsSync(join(path, ENTRY)))
    throw new CommandFailure(`${join(path, ENTRY)}: there is no such file: it exports the plugin`);
  const { name, version, description = '' } = readManifest(manifestFile);
  if (typeof name !== 'string' || typeof version !== 'string')
    throw new CommandFailure(`${manifestFile}: name and version must be texts`);
  const require = createRequire(manifestFile);
  const find = (tool: string): string => {
    try {
      return require.resolve(tool);
    } catch {
      throw new CommandFailure(
        `${path}: ${tool} is not installed there: run \`npm install\`, or \`npm install -D ${tool}\``,
      );
    }
  };
  const sdk = String(packageOf(find(SDK))?.version ?? '');
  const esbuild = require(find('esbuild')) as typeof Esbuild;
  return { path, name, version, description: String(description), sdk, esbuild };
}

export interface PackageManifest {
  folder: string;
  name: string;
  version: string;
  license: string;
}

/** The package that a file belongs to; null: it belongs to none. */
export function packageOf(file: string): PackageManifest | null {
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest)) {
      const { name, version, license, licenses } = readManifest(manifest);
      // Folders inside of a package may have a package.json that only says the kind of the modules.
      if (typeof name === 'string' && typeof version === 'string')
        return {
          folder,
          name,
          version,
          license: licenceText(license ?? (Array.isArray(licenses) ? licenses[0] : null)),
        };
    }
    if (dirname(folder) === folder) return null;
  }
}

/** Old packages have a list of licences; its first entry is given then. */
const licenceText = (license: unknown): string => {
  const { type } = (typeof license === 'object' && license !== null ? license : {}) as { type?: unknown };
  return typeof license === 'string' ? license : typeof type === 'string' ? type : 'no licence named';
};

function readManifest(file: string): Record<string, unknown> {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>;
  } catch (cause) {
    throw new CommandFailure(`${file}: it is not JSON: ${(cause as Error).message}`);
  }
}
