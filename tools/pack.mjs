// npm run pack [-- --out FOLDER]: writes what people install without this repository as packages of npm, and prints their paths:
// @baton/cli, @baton/standalone, @baton/client, @baton/plugin-sdk. Needs dist/.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stageLibraries } from './pack/libraries.mjs';
import { stagePrograms } from './pack/programs.mjs';
import { root } from './run-steps.mjs';

const { values } = parseArgs({ options: { out: { type: 'string', default: '.baton/packages' } } });
const out = resolve(root, values.out);
const stage = join(root, '.baton/pack');

rmSync(stage, { recursive: true, force: true });
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const folders = [...stagePrograms(stage), ...(await stageLibraries(stage))];
for (const folder of folders) {
  const run = spawnSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', out], {
    cwd: folder,
    encoding: 'utf8',
  });
  if (run.status !== 0) throw new Error(`npm pack in ${folder}: ${run.stderr}`);
  const [{ filename, size }] = JSON.parse(run.stdout);
  console.log(`${join(out, filename)} ${(size / 1024).toFixed(0)} KB`);
}
rmSync(stage, { recursive: true, force: true });
