// npm run conformance:workflows [-- FILE...] [--mode standalone|services] [--workers N] [--only NAME]: plays the recorded
// scenarios on real managers and holds what happened against the record. Ends with `N passed, M failed`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureTestServices } from '../../../tools/test-services.mjs';
import { copyOfDist } from '../../harness/dist-copy';
import { type Mode, startFleet } from '../../harness/fleet';
import { root } from '../../harness/processes';
import { adminClient } from '../../harness/session';
import { playScenario, type Scenario } from './play';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { mode: { type: 'string' }, workers: { type: 'string' }, only: { type: 'string' } },
});
const shared = process.env.BATON_SHARED ?? join(root, '../shared');
const files =
  positionals.length > 0
    ? positionals.map((file) => resolve(file))
    : ['scenarios.json', 'manager.json'].map((name) => join(shared, 'conformance/workflows', name));

/** What the scenarios were recorded with, unless a step says otherwise. */
const RECORDED = { BATON_TASK_RETRIES: '2', BATON_TASK_RETRY_INTERVAL: '0.05' };

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

async function playAll(combination: Combination, dist: string, tally: Tally): Promise<void> {
  // Retries of lifecycles are a setting of the manager: scenarios are played on one with their value.
  for (const subgraphRetries of [0, 2]) {
    const wanted = files.map((file) => ({
      isManager: basename(file).startsWith('manager'),
      scenarios: (JSON.parse(readFileSync(file, 'utf8')) as Scenario[]).filter(
        (scenario) =>
          (values.only === undefined || scenario.name === values.only) &&
          Math.max(0, ...scenario.steps.map((step) => step.subgraph_retries ?? 0)) === subgraphRetries,
      ),
    }));
    if (wanted.every(({ scenarios }) => scenarios.length === 0)) continue;
    const ledger = mkdtempSync(join(tmpdir(), 'baton-probe-'));
    const fleet = await startFleet({
      ...combination,
      dist,
      env: {
        ...RECORDED,
        BATON_SUBGRAPH_RETRIES: String(subgraphRetries),
        BATON_WORKER_HANDLERS: join(root, 'test/handlers/probe.js'),
        PROBE_LEDGER: ledger,
      },
    });
    try {
      const client = adminClient(fleet);
      for (const { isManager, scenarios } of wanted) {
        for (const scenario of scenarios) {
          const found = await playScenario({ client, ledger, isManager }, scenario).catch(
            (error: unknown) => [String(error)],
          );
          if (found.length === 0) tally.passed++;
          else
            tally.failed.push(
              `${combination.mode}/${combination.workers} ${scenario.name}:\n  ${found.join('\n  ')}`,
            );
        }
      }
    } finally {
      await fleet.stop();
      rmSync(ledger, { recursive: true, force: true });
    }
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
