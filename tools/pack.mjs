// npm run pack [-- --out FOLDER] [--images FOLDER] [--only packages|images]: writes what people install without this repository, and
// prints the paths. Packages of npm: @baton/cli, @baton/standalone, @baton/client, @baton/plugin-sdk. Images: the files that
// deploy/Dockerfile copies, by `docker build --build-context artefacts=.baton/images`. Needs dist/ with the agent.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { stageImages } from './pack/images.mjs';
import { stageLibraries } from './pack/libraries.mjs';
import { stagePrograms } from './pack/programs.mjs';
import { root } from './run-steps.mjs';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: '.baton/packages' },
    images: { type: 'string', default: '.baton/images' },
    only: { type: 'string' },
  },
});

const kinds = { packages: packPackages, images: packImages };
if (values.only !== undefined && !Object.hasOwn(kinds, values.only)) {
  console.error(`--only ${values.only}: there are ${Object.keys(kinds).join(' and ')}`);
  process.exit(64);
}
for (const [kind, pack] of Object.entries(kinds))
  if (values.only === undefined || values.only === kind) await pack();

async function packPackages() {
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
}

function packImages() {
  const out = resolve(root, values.images);
  stageImages(out);
  console.log(out);
}
