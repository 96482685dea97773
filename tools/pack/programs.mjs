// The two programs: the manager on one machine, and the baton command. Their code is that of dist/, with the same folders.
import { chmodSync, cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../run-steps.mjs';
import { copyDist } from './dist.mjs';
import { pinned, writeManifest } from './manifest.mjs';

const ofManager = [
  'apps/standalone',
  'apps/console',
  'apps/cli',
  'services/worker',
  'migrations',
  'bin',
  'python',
  'module',
  'proto',
  'plugins',
  // What hosts download: of the platform that packs.
  'agent',
];
const { dependencies: outside } = JSON.parse(readFileSync(join(root, 'deploy/runtime/package.json'), 'utf8'));
const { optionalDependencies: databases } = JSON.parse(
  readFileSync(join(root, 'apps/standalone/package.json'), 'utf8'),
);

/** Writes the folders of both packages below `stage`, and returns them. @throws Error without dist/ */
export function stagePrograms(stage) {
  return [stageCli(join(stage, 'cli')), stageManager(join(stage, 'standalone'))];
}

function stageCli(folder) {
  copyDist(join(folder, 'dist'), ['apps/cli', 'plugins']);
  writeManifest(folder, 'apps/cli', { bin: { baton: program(folder, 'apps/cli/main.js') } });
  return folder;
}

/** Copies the manager below `folder`; also the start of the archive for sites without a network. */
export function stageManager(folder) {
  copyDist(join(folder, 'dist'), [...ofManager, 'telemetry.js']);
  cpSync(join(root, 'examples/hello'), join(folder, 'examples/hello'), { recursive: true });
  program(folder, 'apps/cli/main.js');
  writeManifest(folder, 'apps/standalone', {
    bin: { 'baton-standalone': program(folder, 'apps/standalone/main.js') },
    dependencies: pinned(Object.keys(outside)),
    optionalDependencies: pinned(Object.keys(databases)),
  });
  return folder;
}

/** Makes a bundle a program that a shell can start. Returns its path in the package. */
function program(folder, path) {
  const file = join(folder, 'dist', path);
  writeFileSync(file, `#!/usr/bin/env node\n${readFileSync(file, 'utf8')}`);
  chmodSync(file, 0o755);
  return `dist/${path}`;
}
