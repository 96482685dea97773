// npm test: runs everything, on a machine without manual installations. Ends with a table of the results.
import { randomInt } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { e2eCommand } from './e2e.mjs';
import { createTestRun } from './test-run.mjs';
import { ensurePrograms, ensurePythonVenv, ensureTestServices } from './test-services.mjs';

const root = join(import.meta.dirname, '..');
/** Recorded inputs and answers of the original: stored outside of this repository. */
const shared = resolve(root, process.env.BATON_SHARED ?? '../shared');
/** `npm test -- --seed N`: selects the random fault rows and the times of their faults. */
const { values } = parseArgs({ options: { seed: { type: 'string' } } });
const seed = values.seed ?? String(randomInt(1e9));

const run = createTestRun(root);
const tool = (...args) => ({ args });
const script = (...args) => ({ args: ['--import', 'tsx', ...args] });
const jest = (args, env) => ({ args: ['node_modules/jest/bin/jest.js', ...args], env });

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
  'ansible-playbook': 'ansible-core',
  sshd: 'openssh-server',
  ssh: 'openssh-client',
  pgrep: 'procps',
  sudo: 'sudo',
  vsftpd: 'vsftpd',
  openssl: 'openssl',
  dockerd: 'docker.io',
  busybox: 'busybox-static',
  // The package starts nothing in a container.
  'systemd-analyze': 'systemd',
  // A library and a program: clocks of hosts in test/hosts.
  faketime: 'faketime',
});
ensurePythonVenv();
const services = await ensureTestServices();
const env = services.env;
const e2eServices = (filter) => e2eCommand({ mode: 'services', workers: 3, env, filter });
const e2eStandalone = (filter) => e2eCommand({ mode: 'standalone', workers: 1, env, filter });
const integration = (filter) => jest(filter, env);
const attacks = { ...script('test/attack/run.ts'), env };
const faults = { ...script('test/fault/run.ts', '--suite', '--seed', seed), env };

const INTEGRATION = 'integration tests';
const E2E_SLOWEST = 'end to end, services with 3 workers, the slowest files';
const E2E_OTHERS = 'end to end, services with 3 workers, the other files';
const E2E_STANDALONE = 'end to end, standalone';
const ATTACKS = 'attacks: an outsider, a user of a tenant, a neighbour';
const FAULTS = 'faults: processes killed, paused and cut off';
const suites = {
  [INTEGRATION]: integration,
  [E2E_SLOWEST]: e2eServices,
  [E2E_OTHERS]: e2eServices,
  [E2E_STANDALONE]: e2eStandalone,
};

/** The command that runs a failed step again, alone; null for steps that the load of the machine cannot change. */
function alone({ name, failed }) {
  if (name === ATTACKS) return attacks;
  if (name === FAULTS) return faults;
  const files = [...new Set(failed.map(({ file }) => file))];
  return suites[name] && files.length > 0
    ? suites[name](['--runInBand', '--runTestsByPath', ...files])
    : null;
}

try {
  run.step(
    'check: format, lint, types, import law, dead code, pure tests',
    tool('tools/check.mjs', '--full'),
  );
  run.step('build', tool('tools/build.mjs'));
  run.step('build of the agent', tool('tools/build-agent.mjs'));
  run.step('verify: generated files', { ...tool('tools/verify.mjs'), env });
  // More than cores: most of these suites wait most of their time.
  run.step(
    INTEGRATION,
    integration(['--testPathPatterns', '(?<!\\.alone)\\.int\\.test\\.ts$', '--maxWorkers', '5']),
  );
  run.step(
    'integration tests that judge times, one after another',
    integration(['--testPathPatterns', '\\.alone\\.int\\.test\\.ts$', '--runInBand']),
  );
  const recorded = join(shared, 'conformance/workflows/scenarios.json');
  const ownFolder = join(root, 'test/conformance/workflows/scenarios');
  const own = readdirSync(ownFolder).map((name) => join(ownFolder, name));
  const scenarios = existsSync(recorded) ? [recorded, ...own] : own;
  const isRecorded = existsSync(join(shared, 'conformance'));
  // The end-to-end suite of services takes longest, half of it in two files.
  const slowest = 'test/e2e/(workflow-code|composition)\\.test';
  // What a plugin does is the same in both: each of its suites runs in one of them here, and in both by `npm run e2e`.
  const onlyServices =
    'test/e2e/(ansible-host|terraform|three-parts|utilities.*|sensitive-runtime|plugin-tools)\\.test';
  const onlyStandalone =
    'test/e2e/(docker|fabric|helm-release|http-api|plugin-(dev|trust)|typescript-authoring|script-operations|workflow-statements)\\.test';
  const without = (...patterns) => ['--testPathIgnorePatterns', ...patterns, '/node_modules/'];
  await run.stepsInLanes(
    { [E2E_SLOWEST]: e2eServices(['--testPathPatterns', slowest]) },
    { [E2E_OTHERS]: e2eServices(without(slowest, onlyStandalone)) },
    {
      [E2E_STANDALONE]: e2eStandalone(without(onlyServices)),
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
    { [ATTACKS]: attacks, [FAULTS]: faults },
  );
  run.runAgain(alone);
  if (!isRecorded)
    console.log(
      `\nleft out: the recorded cases of the original are not in this repository and not at ${shared}`,
    );
} finally {
  await services.stop();
}

process.exit(run.report());
