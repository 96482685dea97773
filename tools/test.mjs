// npm test: everything, on a machine where nothing was installed by hand. Ends with a table of what ran.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { e2eCommand } from './e2e.mjs';
import { ensurePrograms, ensureTestServices } from './test-services.mjs';

const root = join(import.meta.dirname, '..');
/** Recorded inputs and answers of the original: kept outside of this repository. */
const shared = resolve(root, process.env.BATON_SHARED ?? '../shared');
const results = [];
/** `npm test -- --seed N`: which fault rows chance takes, and when they strike. */
const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = values.seed ? ['--seed', values.seed] : [];

function step(name, run) {
  const startedAt = performance.now();
  console.log(`\n=== ${name}`);
  const status = run();
  results.push({ name, isPassed: status === 0, seconds: (performance.now() - startedAt) / 1000 });
}

/**
 * What needs one core, or waits most of the time, beside each other; each prints when it has ended. `commands`: name ->
 * arguments of Node and environment.
 */
async function stepsAtOnce(commands) {
  const startedAt = performance.now();
  const run = ([name, { args, env = {} }]) =>
    new Promise((resolve) => {
      const child = spawn(process.execPath, args, { cwd: root, env: { ...process.env, ...env } });
      let said = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (said += text));
      child.on('close', (status) => {
        console.log(`\n=== ${name}\n${said.trimEnd()}`);
        results.push({ name, isPassed: status === 0, seconds: (performance.now() - startedAt) / 1000 });
        resolve();
      });
    });
  await Promise.all(Object.entries(commands).map(run));
}

const node = (args, env = {}) =>
  spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit', env: { ...process.env, ...env } })
    .status ?? 1;
const script = (...args) => ({ args: ['--import', 'tsx', ...args] });
const tsx = (args, env) => node(script(...args).args, env);
const jest = (args, env) => node(['node_modules/jest/bin/jest.js', ...args], env);

// What the scripts under test call.
ensurePrograms({
  python3: 'python3-minimal',
  bash: 'bash',
  tar: 'tar',
  git: 'git',
  bwrap: 'bubblewrap',
  nft: 'nftables',
  ip: 'iproute2',
});
const services = await ensureTestServices();
const env = services.env;
try {
  step('check: format, lint, types, import law, dead code, pure tests', () =>
    node(['tools/check.mjs', '--full']),
  );
  step('build', () => node(['tools/build.mjs']));
  step('verify: generated files', () => node(['tools/verify.mjs'], env));
  step('integration tests', () => jest(['--testPathPatterns', 'int\\.test\\.ts$', '--maxWorkers', '3'], env));
  await stepsAtOnce({
    'simulation of the model, 1,000 seeds': script('test/sim/run.ts', '--seeds', '1000', '--of', 'model'),
    'simulation of the service, 400 seeds': script('test/sim/run.ts', '--seeds', '400', '--of', 'service'),
    'simulation of schedules, 100 seeds': script('test/sim/run.ts', '--seeds', '100', '--of', 'schedules'),
  });
  await stepsAtOnce({
    'end to end, standalone': e2eCommand({ mode: 'standalone', workers: 1, env }),
    'end to end, services with 3 workers': e2eCommand({ mode: 'services', workers: 3, env }),
  });
  step('attacks: an outsider, a user of a tenant, a neighbour', () => tsx(['test/attack/run.ts'], env));
  step('faults: processes killed, paused and cut off', () =>
    tsx(['test/fault/run.ts', '--suite', ...seed], env),
  );
  const recorded = join(shared, 'conformance/workflows/scenarios.json');
  const ownFolder = join(root, 'test/conformance/workflows/scenarios');
  const own = readdirSync(ownFolder).map((name) => join(ownFolder, name));
  const scenarios = existsSync(recorded) ? [recorded, ...own] : own;
  step('scenarios of workflows, services with 3 workers', () =>
    tsx(['test/conformance/workflows/run.ts', ...scenarios, '--mode', 'services', '--workers', '3'], env),
  );
  if (existsSync(join(shared, 'conformance'))) {
    await stepsAtOnce({
      'conformance of the language': script('test/conformance/dsl/run.ts'),
      'fuzz of the language, 20 s': script('test/conformance/dsl/fuzz.ts', '--seconds', '20'),
    });
  } else {
    console.log(
      `\nleft out: the recorded cases of the original are not in this repository and not at ${shared}`,
    );
  }
} finally {
  await services.stop();
}

console.log('');
for (const { name, isPassed, seconds } of results) {
  console.log(`${isPassed ? 'passed' : 'FAILED'}  ${seconds.toFixed(1).padStart(6)} s  ${name}`);
}
const failed = results.filter((result) => !result.isPassed).length;
console.log(`${results.length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
