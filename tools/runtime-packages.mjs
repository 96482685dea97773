// Writes dist/package.json with the packages that stay outside the bundles, at the workspace's versions: images install
// them as ordinary packages.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { runtimePackages } from './build.mjs';

const root = join(import.meta.dirname, '..');
const dependencies = {};
const telemetry = JSON.parse(
  readFileSync(join(root, 'packages/service-runtime/package.json'), 'utf8'),
).dependencies;
const tracing = Object.keys(telemetry).filter((name) => name.startsWith('@opentelemetry/'));
const wanted = {
  ...runtimePackages,
  ...Object.fromEntries(tracing.map((name) => [name, 'packages/service-runtime'])),
};
for (const [name, owner] of Object.entries(wanted)) {
  const require = createRequire(join(root, owner, 'package.json'));
  const paths = require.resolve.paths(name) ?? [];
  const found = paths.map((path) => join(path, name, 'package.json')).find((file) => tryRead(file) !== null);
  if (!found) throw new Error(`${name} is not installed for ${owner}`);
  dependencies[name] = JSON.parse(tryRead(found)).version;
}
writeFileSync(
  join(root, 'dist', 'package.json'),
  `${JSON.stringify({ name: 'baton-runtime', private: true, dependencies }, null, 2)}\n`,
);

function tryRead(file) {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
