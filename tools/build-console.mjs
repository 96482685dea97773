// Builds the console with Vite, in a separate process beside the esbuild bundles. A build of the same sources is cached in
// .baton/console and copied.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { root } from './run-steps.mjs';

const app = join(root, 'apps/console');
const kept = join(root, '.baton/console');
const stamp = join(root, '.baton/console.digest');
/** All inputs of a build. */
const SOURCES = [
  'apps/console/src',
  'apps/console/build',
  'apps/console/public',
  'apps/console/index.html',
  'apps/console/package.json',
  'apps/console/vite.config.ts',
  'packages/client/src',
  'packages/dsl/src',
  'packages/kernel/src',
  'packages/contracts/src/http',
  'packages/dsl/src',
  'packages/contracts/src/route.ts',
  'packages/contracts/src/folded-change.ts',
  'packages/contracts/src/import-labels.ts',
  'packages/contracts/src/webhook-events.ts',
  'pnpm-lock.yaml',
];

/** Fills `folder` with the console. @throws Error with the output of Vite, when the build fails or exceeds its budget */
export async function buildConsole(folder) {
  const digest = digestOf(SOURCES);
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== digest || !existsSync(join(kept, 'index.html'))) {
    rmSync(stamp, { force: true });
    await vite();
    writeFileSync(stamp, digest);
  }
  mkdirSync(folder, { recursive: true });
  cpSync(kept, folder, { recursive: true });
}

function digestOf(paths) {
  const hash = createHash('sha256').update(process.version);
  for (const path of paths) {
    const whole = join(root, path);
    const entries = statSync(whole).isDirectory() ? readdirSync(whole, { recursive: true }).sort() : [''];
    for (const entry of entries) {
      const file = join(whole, entry);
      try {
        hash.update(`${path}/${entry}\0`).update(readFileSync(file));
      } catch (error) {
        if (error.code !== 'EISDIR') throw error;
      }
    }
  }
  return hash.digest('hex');
}

function vite() {
  const child = spawn(
    process.execPath,
    [join(app, 'node_modules/vite/bin/vite.js'), 'build', '--logLevel', 'warn'],
    {
      cwd: app,
      env: { ...process.env, NODE_ENV: 'production', BATON_CONSOLE_OUT: kept },
    },
  );
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (status) => {
      if (said.trim() !== '') console.log(said.trim());
      if (status === 0) resolve();
      else reject(new Error(`console: Vite ended with ${status}`));
    });
  });
}
