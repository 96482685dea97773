// npm run fault -- [--suite] [--rows F1,F3] [--seed N] [--keep]: faults against real processes; docs/RELIABILITY.md.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { seededRandom } from '../sim/random';
import { copyOfDist, type Rig, startRig } from './rig';
import type { Outcome, Row } from './row';
import { cancelRows } from './rows/cancels';
import { serverRows } from './rows/servers';
import { serviceRows } from './rows/services';
import { workerRows } from './rows/workers';

const rows: Row[] = [...serviceRows, ...workerRows, ...serverRows, ...cancelRows];

const { values } = parseArgs({
  options: {
    suite: { type: 'boolean', default: false },
    rows: { type: 'string' },
    seed: { type: 'string' },
    keep: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
const wanted = values.rows?.split(',');
const unknown = wanted?.filter((id) => !rows.some((row) => row.id === id)) ?? [];
if (unknown.length > 0 || !Number.isSafeInteger(seed)) {
  console.error(
    `unknown: ${unknown.join(', ') || values.seed}; rows are ${rows.map((row) => row.id).join(', ')}`,
  );
  process.exit(64);
}
const chosen = rows.filter((row) => (wanted ? wanted.includes(row.id) : !values.suite || row.isInSuite));

interface Result extends Outcome {
  row: Row;
  seconds: number;
}

const dist = copyOfDist();
let rig: Rig | null = null;
let isStopped = false;

/** A row leaves the rig whole, or the next one gets a fresh one. */
async function runRow(row: Row): Promise<Result> {
  const startedAt = performance.now();
  rig ??= await startRig(dist);
  const at = {
    rig,
    random: seededRandom(seed + row.id.length * 7919 + row.id.charCodeAt(1)),
    isSuite: values.suite,
  };
  let outcome: Outcome;
  try {
    outcome = await row.run(at);
  } catch (error) {
    outcome = { violations: [(error as Error).message], facts: {} };
  }
  const ended = rig.surprises();
  if (ended.length > 0) outcome.violations.push(`ended by themselves: ${ended.join(', ')}`);
  if (outcome.violations.length > 0) {
    if (values.keep) console.log(`logs and ledger: ${await keep(rig)}`);
    await rig.stop();
    rig = null;
  }
  return { row, ...outcome, seconds: (performance.now() - startedAt) / 1000 };
}

/** What one needs to understand a failure: logs, ledger, the engine's tables. */
async function keep(failed: Rig): Promise<string> {
  const copy = `${failed.fleet.dir}-kept`;
  spawnSync('sh', ['-c', `mkdir -p ${copy} && cp -r ${failed.fleet.dir}/logs ${failed.ledger.path} ${copy}`]);
  for (const table of ['executions', 'tasks', 'events', 'workers', 'outbox', 'instance_states']) {
    const rows = await failed.sql(`select * from executions.${table}`).catch(() => []);
    writeFileSync(join(copy, `${table}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  return copy;
}

function print({ row, violations, facts, seconds }: Result): void {
  const verdict = violations.length === 0 ? 'passed' : 'FAILED';
  const shown = Object.entries(facts).map(([name, value]) => `${name} ${value}`);
  console.log(`${verdict}  ${row.id.padEnd(5)} ${`${seconds.toFixed(1)} s`.padStart(8)}  ${row.title}`);
  if (shown.length > 0) console.log(`${' '.repeat(24)}${shown.join(', ')}`);
  for (const violation of violations.slice(0, 12)) console.log(`${' '.repeat(24)}! ${violation}`);
  if (violations.length > 12) console.log(`${' '.repeat(24)}! and ${violations.length - 12} more`);
}

async function stop(): Promise<void> {
  if (isStopped) return;
  isStopped = true;
  await rig?.stop();
  rmSync(dist, { recursive: true, force: true });
}

async function main(): Promise<number> {
  console.log(`faults: ${chosen.length} rows, seed ${seed}`);
  const results: Result[] = [];
  for (const row of chosen) {
    const result = await runRow(row).catch(
      (error: Error): Result => ({ row, violations: [`no rig: ${error.message}`], facts: {}, seconds: 0 }),
    );
    results.push(result);
    print(result);
  }
  await stop();
  const failed = results.filter((result) => result.violations.length > 0);
  if (failed.length > 0) {
    const again = failed.map((result) => result.row.id).join(',');
    console.log(`again: npm run fault -- --rows ${again} --seed ${seed}${values.suite ? ' --suite' : ''}`);
  }
  console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
  return failed.length === 0 ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => void stop().then(() => process.exit(130)));
main().then(
  (status) => process.exit(status),
  async (error) => {
    console.error(error);
    await stop();
    process.exit(70);
  },
);
