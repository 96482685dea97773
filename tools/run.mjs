// The one entry of all npm scripts: makes the tree ready (dependencies, build) and runs the named task.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';

const root = join(import.meta.dirname, '..');

/** Runs a program in the root and ends this process with its status when it fails. */
function run(command, args, env = {}) {
  const child = spawnSync(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  if (child.error) throw child.error;
  if (child.status !== 0) process.exit(child.status ?? 1);
}

const node = (args, env) => run(process.execPath, args, env);
const tsx = (args, env) => node(['--import', 'tsx', ...args], env);
const isBuilt = () => existsSync(join(root, 'dist', 'apps', 'standalone', 'main.js'));

/** Bundles when sources are newer than the last build; quick, so it is always right. */
const build = () => node(['tools/build.mjs']);

const tasks = {
  build,
  start: (args) => {
    if (!isBuilt()) build();
    node(['dist/apps/standalone/main.js', ...args]);
  },
  demo: (args) => {
    build();
    node(['dist/apps/standalone/main.js', '--demo', ...args]);
  },
  dev: async (args) => {
    build();
    tsx(['tools/dev.ts', ...args]);
  },
  check: (args) => node(['tools/check.mjs', ...args]),
  test: (args) => node(['tools/test.mjs', ...args]),
  e2e: (args) => {
    build();
    node(['tools/e2e.mjs', ...args]);
  },
  'conformance:dsl': (args) => tsx(['test/conformance/dsl/run.ts', ...args]),
  'conformance:workflows': (args) => {
    build();
    tsx(['test/conformance/workflows/run.ts', ...args]);
  },
  'conformance:rest': (args) => {
    build();
    tsx(['test/conformance/rest/run.ts', ...args]);
  },
  fault: (args) => {
    build();
    tsx(['test/fault/run.ts', ...args]);
  },
  sim: (args) => tsx(['test/sim/run.ts', ...args]),
  fuzz: (args) => {
    build();
    tsx(['test/fuzz/run.ts', ...args]);
  },
  bench: (args) => {
    build();
    tsx(['bench/run.ts', ...args]);
  },
  gen: (args) => node(['tools/gen.mjs', ...args]),
  verify: (args) => node(['tools/verify.mjs', ...args]),
  new: (args) => node(['tools/new/index.mjs', ...args]),
};

const [name, ...args] = process.argv.slice(2);
const task = tasks[name];
if (!task) {
  console.error(`no task ${name}; there are: ${Object.keys(tasks).join(', ')}`);
  process.exit(64);
}
ensureInstalled();
await task(args);
