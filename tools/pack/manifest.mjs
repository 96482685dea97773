// The package.json of a package for other people, and the files that each of them has.
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { root } from '../run-steps.mjs';

const yaml = createRequire(join(root, 'package.json'))('js-yaml');
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
const { catalog } = yaml.load(readFileSync(join(root, 'pnpm-workspace.yaml'), 'utf8'));
const { version, license, engines } = read('package.json');
export const productVersion = version;

/** Returns `{name: version}` with the exact versions of the workspace. @throws Error for a package that the workspace does not name */
export function pinned(names) {
  return Object.fromEntries(
    names.map((name) => {
      if (!catalog[name]) throw new Error(`pack: ${name} is not in the catalog of pnpm-workspace.yaml`);
      return [name, catalog[name]];
    }),
  );
}

/** Fills `folder` with what every package has. `source`: the workspace package whose name, description and PACKAGE.md it gets. */
export function writeManifest(folder, source, fields) {
  mkdirSync(folder, { recursive: true });
  const { name, description } = read(`${source}/package.json`);
  const manifest = { name, version, description, license, engines, ...fields };
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, source, 'PACKAGE.md'), join(folder, 'README.md'));
  cpSync(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  cpSync(join(root, 'docs/generated/licences.md'), join(folder, 'THIRD-PARTY.md'));
}
