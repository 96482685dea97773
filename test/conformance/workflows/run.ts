// npm run conformance:workflows [-- FILE...] [--mode standalone|services] [--workers N] [--only NAME]: plays the recorded
// scenarios on real managers and compares the results with the record. Ends with `N passed, M failed`.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureTestServices } from '../../../tools/test-services.mjs';
import { copyOfDist } from '../../harness/dist-copy';
import { type Mode, startFleet } from '../../harness/fleet';
import { root } from '../../harness/processes';
import { adminClient } from '../../harness/session';
import { playScenario, type Scenario } from './play';
import { configuredRetries, type Retries, retriesOf } from './retries';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { mode: { type: 'string' }, workers: { type: 'string' }, only: { type: 'string' } },
});
const shared = process.env.BATON_SHARED ?? join(root, '../shared');
const recorded = ['scenarios.json', 'manager.json'].map((name) =>
  join(shared, 'conformance/workflows', name),
);
/** Scenarios of this repository: rules that no recorded scenario covers. */
const ownFolder = join(root, 'test/conformance/workflows/scenarios');
const own = readdirSync(ownFolder).map((name) => join(ownFolder, name));
const files = positionals.length > 0 ? positionals.map((file) => resolve(file)) : [...recorded, ...own];
const missing = files.filter((file) => !existsSync(file));
if (missing.length > 0) {
  console.error(`there is no ${missing.join(', ')}`);
  process.exit(64);
}

/** Retry interval in seconds with which the scenarios were recorded. */
const RECORDED_INTERVAL = '0.05';

interface Combination {
  mode: Mode;
  workers: number;
}

const combinations: Combination[] = values.mode
  ? [{ mode: values.mode as Mode, workers: Number(values.workers ?? 1) }]
  : [
      { mode: 'standalone', workers: 1 },
      { mode: 'standalone', workers: 3 },
      { mode: 'services', workers: 1 },
      { mode: 'services', workers: 3 },
    ];

interface Tally {
  passed: number;
  failed: string[];
}

interface Play {
  scenario: Scenario;
  isManager: boolean;
  retries: Retries;
}

/**
 * Whether the scenario was recorded on a complete manager: it says so, or uses features that the original's in-process engine
 * lacked.
 */
function isOfManager(scenario: Scenario, file: string): boolean {
  const isOnlyThere = scenario.steps.some(
    ({ workflow, expect }) => workflow === 'update' || expect.outcome === 'refused',
  );
  return scenario.by === 'manager' || basename(file).startsWith('manager') || isOnlyThere;
}

/** Returns all requested scenarios; those that begin with the same retries follow each other. */
function plays(): Play[] {
  const all = files.flatMap((file) =>
    (JSON.parse(readFileSync(file, 'utf8')) as Scenario[])
      .filter(({ name }) => values.only === undefined || name === values.only)
      .map((scenario) => ({
        scenario,
        isManager: isOfManager(scenario, file),
        retries: retriesOf(scenario.steps[0]!),
      })),
  );
  const key = ({ retries }: Play) => `${retries.task_retries} ${retries.subgraph_retries}`;
  const groups = new Map<string, Play[]>();
  for (const play of all) groups.set(key(play), [...(groups.get(key(play)) ?? []), play]);
  return [...groups.values()].flat();
}

async function playAll(combination: Combination, dist: string, tally: Tally): Promise<void> {
  const all = plays();
  if (all.length === 0) throw new Error(`no scenario ${values.only ?? ''} in ${files.join(', ')}`);
  const ledger = mkdtempSync(join(tmpdir(), 'baton-probe-'));
  const first = all[0]!.retries;
  const fleet = await startFleet({
    ...combination,
    dist,
    env: {
      BATON_TASK_RETRY_INTERVAL: RECORDED_INTERVAL,
      BATON_TASK_RETRIES: String(first.task_retries),
      BATON_SUBGRAPH_RETRIES: String(first.subgraph_retries),
      BATON_WORKER_HANDLERS: join(root, 'test/handlers/probe.js'),
      PROBE_LEDGER: ledger,
      // The workers of a standalone get no other variables than their own and these.
      BATON_WORKER_PASS_ENV: 'PROBE_LEDGER',
    },
  });
  try {
    const client = adminClient(fleet);
    const setRetries = configuredRetries(client, first);
    for (const { scenario, isManager } of all) {
      const found = await playScenario({ client, ledger, isManager, setRetries }, scenario).catch(
        (error: unknown) => [String(error)],
      );
      if (found.length === 0) tally.passed++;
      else
        tally.failed.push(
          `${combination.mode}/${combination.workers} ${scenario.name}:\n  ${found.join('\n  ')}`,
        );
    }
  } finally {
    await fleet.stop();
    rmSync(ledger, { recursive: true, force: true });
  }
}

async function main(): Promise<void> {
  const services = await ensureTestServices();
  Object.assign(process.env, services.env);
  const dist = copyOfDist();
  const tally: Tally = { passed: 0, failed: [] };
  try {
    for (const combination of combinations) {
      await playAll(combination, dist, tally);
      const { mode, workers } = combination;
      console.log(
        `${mode}, ${workers} worker(s): ${tally.passed} passed, ${tally.failed.length} failed until here`,
      );
    }
  } finally {
    rmSync(dist, { recursive: true, force: true });
    await services.stop();
  }
  for (const failure of tally.failed) console.log(failure);
  console.log(`${tally.passed} passed, ${tally.failed.length} failed`);
  process.exitCode = tally.failed.length === 0 ? 0 : 1;
}

void main();
