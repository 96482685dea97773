// What the tests of examples share.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './processes';

/** The package of plugins/<folder>, as `npm run build` has made it with `baton plugins build`. */
export function builtPlugin(folder: string): Buffer {
  const { name, version } = JSON.parse(readFileSync(join(root, 'plugins', folder, 'package.json'), 'utf8'));
  return readFileSync(join(root, 'dist/plugins', `${name}-${version}.bplug`));
}
