// The entry of all npm scripts: prepares the tree (dependencies, build) and runs the named task.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { ensureInstalled } from './install.mjs';

const root = join(import.meta.dirname, '..');

const PARENT_LOOK_MS = 1_000;

/**
 * Runs a program in the root and exits with its status when it fails. A signal to this process (by a service manager or `kill`)
 * is meant for the program: it is forwarded, and the end of the program is awaited. A terminal sends the signal to both by
 * itself. npm sends it only to the shell in between, so a script of npm ends when its shell ends.
 */
async function run(command, args, env = {}) {
  const child = spawn(command, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } });
  const tell = (signal) => {
    if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
  };
  const parent = process.ppid;
  const looking = setInterval(() => {
    if (!process.env.npm_lifecycle_event || process.ppid === parent) return;
    clearInterval(looking);
    tell('SIGTERM');
  }, PARENT_LOOK_MS);
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  for (const signal of signals) process.on(signal, tell);
  const [status, signal] = await new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (...end) => resolve(end));
  });
  clearInterval(looking);
  for (const one of signals) process.off(one, tell);
  if (status !== 0) process.exit(status ?? 128 + constants.signals[signal]);
}

const node = (args, env) => run(process.execPath, args, env);
const tsx = (args, env) => node(['--import', 'tsx', ...args], env);
const isBuilt = () => existsSync(join(root, 'dist', 'apps', 'standalone', 'main.js'));

/** Builds the bundles. The build is fast, so it always runs. */
const build = () => node(['tools/build.mjs']);

const buildAgent = () => node(['tools/build-agent.mjs']);

/** A manager runs without it; then hosts get no agent. Programs for other systems than Linux are not made. */
function offerAgent() {
  if (process.platform !== 'linux' || existsSync(join(root, 'dist/agent/index.json'))) return;
  const { status } = spawnSync(process.execPath, ['tools/build-agent.mjs'], { cwd: root, stdio: 'inherit' });
  if (status !== 0)
    console.error('baton: the agent could not be built, so that hosts get none: npm run build:agent');
}

const tasks = {
  build,
  'build:agent': (args) => node(['tools/build-agent.mjs', ...args]),
  start: async (args) => {
    if (!isBuilt()) await build();
    offerAgent();
    await node(['dist/apps/standalone/main.js', ...args]);
  },
  demo: async (args) => {
    await build();
    offerAgent();
    await node(['dist/apps/standalone/main.js', '--demo', ...args]);
  },
  dev: async (args) => {
    await build();
    await tsx(['tools/dev.ts', ...args]);
  },
  pack: async (args) => {
    await build();
    await buildAgent();
    await node(['tools/pack.mjs', ...args]);
  },
  bundle: async (args) => {
    await build();
    await buildAgent();
    await node(['tools/bundle.mjs', ...args]);
  },
  doors: async (args) => {
    await build();
    await buildAgent();
    await tsx(['test/doors/run.ts', ...args]);
  },
  certs: (args) => tsx(['tools/certs.ts', ...args]),
  sbom: (args) => node(['tools/sbom.mjs', ...args]),
  keys: (args) => tsx(['apps/standalone/src/keys.main.ts', ...args]),
  check: (args) => node(['tools/check.mjs', ...args]),
  test: (args) => node(['tools/test.mjs', ...args]),
  e2e: async (args) => {
    await build();
    await node(['tools/e2e.mjs', ...args]);
  },
  'conformance:dsl': (args) => tsx(['test/conformance/dsl/run.ts', ...args]),
  'conformance:real': async (args) => {
    await build();
    await tsx(['test/conformance/real/run.ts', ...args]);
  },
  'conformance:workflows': async (args) => {
    await build();
    await tsx(['test/conformance/workflows/run.ts', ...args]);
  },
  'conformance:rest': async (args) => {
    await build();
    await tsx(['test/conformance/rest/run.ts', ...args]);
  },
  fault: async (args) => {
    await build();
    // Rows F18 and F19 install it on hosts.
    await buildAgent();
    await tsx(['test/fault/run.ts', ...args]);
  },
  sim: (args) => tsx(['test/sim/run.ts', ...args]),
  attack: async (args) => {
    await build();
    await tsx(['test/attack/run.ts', ...args]);
  },
  // Requests, then payloads; with `--of rpc,messages` only payloads, with other options only requests.
  fuzz: async (args) => {
    await build();
    if (!args.includes('--of')) await tsx(['test/fuzz/run.ts', ...args]);
    if (args.length === 0 || args.includes('--of')) await tsx(['test/fuzz/payloads/run.ts', ...args]);
  },
  bench: async (args) => {
    await build();
    if (args.includes('agents')) await buildAgent();
    await tsx(['bench/run.ts', ...args]);
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
