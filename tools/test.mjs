// npm test: runs everything, on a machine without manual installations. Ends with a table of the results.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { childrenCpuSeconds } from '../test/harness/children-cpu.cjs';
import { e2eCommand } from './e2e.mjs';
import { ensurePrograms, ensureTestServices } from './test-services.mjs';

const root = join(import.meta.dirname, '..');
/** Recorded inputs and answers of the original: stored outside of this repository. */
const shared = resolve(root, process.env.BATON_SHARED ?? '../shared');
const results = [];
const testStartedAt = performance.now();
/** `npm test -- --seed N`: selects the random fault rows and the times of their faults. */
const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = values.seed ? ['--seed', values.seed] : [];
let spentBefore = childrenCpuSeconds();

function note(name, status, startedAt) {
  const spent = childrenCpuSeconds();
  const cpuSeconds = spent === null ? null : spent - spentBefore;
  spentBefore = spent;
  results.push({ name, isPassed: status === 0, seconds: (performance.now() - startedAt) / 1000, cpuSeconds });
}

function step(name, run) {
  const startedAt = performance.now();
  console.log(`\n=== ${name}`);
  note(name, run(), startedAt);
}

/**
 * Runs lanes in parallel; in a lane the steps run one after another. For steps that need one core, or wait most of the time. Each
 * step prints its result when it has ended. A lane maps names to arguments of Node and environment.
 */
async function stepsInLanes(...lanes) {
  const run = (name, { args, env = {} }) =>
    new Promise((resolve) => {
      const startedAt = performance.now();
      const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env } });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
      child.on('close', (status) => {
        console.log(`\n=== ${name}\n${said.trimEnd()}`);
        note(name, status, startedAt);
        resolve();
      });
    });
  await Promise.all(
    lanes.map(async (lane) => {
      for (const [name, command] of Object.entries(lane)) await run(name, command);
    }),
  );
}

const node = (args, env = {}) =>
  spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
    .status ?? 1;
const script = (...args) => ({ args: ['--import', 'tsx', ...args] });
const jest = (args, env) => node(['node_modules/jest/bin/jest.js', ...args], env);

// Programs that the scripts under test call.
ensurePrograms({
  python3: 'python3-minimal',
  bash: 'bash',
  tar: 'tar',
  git: 'git',
  bwrap: 'bubblewrap',
  nft: 'nftables',
  ip: 'iproute2',
  chromium: 'chromium',
  slapd: 'slapd',
});
const services = await ensureTestServices();
const env = services.env;
try {
  step('check: format, lint, types, import law, dead code, pure tests', () =>
    node(['tools/check.mjs', '--full']),
  );
  step('build', () => node(['tools/build.mjs']));
  step('verify: generated files', () => node(['tools/verify.mjs'], env));
  // More than cores: most of these suites wait most of their time.
  step('integration tests', () =>
    jest(['--testPathPatterns', '(?<!\\.alone)\\.int\\.test\\.ts$', '--maxWorkers', '5'], env),
  );
  step('integration tests that judge times, one after another', () =>
    jest(['--testPathPatterns', '\\.alone\\.int\\.test\\.ts$', '--runInBand'], env),
  );
  const recorded = join(shared, 'conformance/workflows/scenarios.json');
  const ownFolder = join(root, 'test/conformance/workflows/scenarios');
  const own = readdirSync(ownFolder).map((name) => join(ownFolder, name));
  const scenarios = existsSync(recorded) ? [recorded, ...own] : own;
  const isRecorded = existsSync(join(shared, 'conformance'));
  // The end-to-end suite of services takes longest; the other lanes end earlier.
  await stepsInLanes(
    { 'end to end, services with 3 workers': e2eCommand({ mode: 'services', workers: 3, env }) },
    {
      'end to end, standalone': e2eCommand({ mode: 'standalone', workers: 1, env }),
      'simulation of the model, 400 seeds': script('test/sim/run.ts', '--seeds', '400', '--of', 'model'),
    },
    {
      'scenarios of workflows, services with 3 workers': {
        ...script('test/conformance/workflows/run.ts', ...scenarios, '--mode', 'services', '--workers', '3'),
        env,
      },
      'simulation of the service, 250 seeds': script('test/sim/run.ts', '--seeds', '250', '--of', 'service'),
      'simulation of schedules, 70 seeds': script('test/sim/run.ts', '--seeds', '70', '--of', 'schedules'),
      ...(isRecorded && {
        'conformance of the language': script('test/conformance/dsl/run.ts'),
        'published blueprints': script('test/conformance/real/run.ts'),
        'fuzz of the language, 20 s': script('test/conformance/dsl/fuzz.ts', '--seconds', '20'),
      }),
    },
    {
      'attacks: an outsider, a user of a tenant, a neighbour': { ...script('test/attack/run.ts'), env },
      'faults: processes killed, paused and cut off': {
        ...script('test/fault/run.ts', '--suite', ...seed),
        env,
      },
    },
  );
  if (!isRecorded)
    console.log(
      `\nleft out: the recorded cases of the original are not in this repository and not at ${shared}`,
    );
} finally {
  await services.stop();
}

console.log('');
for (const { name, isPassed, seconds, cpuSeconds } of results) {
  const cpu = cpuSeconds === null ? '' : `  ${cpuSeconds.toFixed(0).padStart(4)} s of CPU`;
  console.log(`${isPassed ? 'passed' : 'FAILED'}  ${seconds.toFixed(1).padStart(6)} s${cpu}  ${name}`);
}
console.log(`${((performance.now() - testStartedAt) / 60_000).toFixed(1)} min in all`);
const failed = results.filter((result) => !result.isPassed).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
