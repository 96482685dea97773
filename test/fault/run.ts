// npm run fault -- [--rows F1,F3e] [--suite] [--seed N] [--json] [--keep] [--list]
// [--minutes 20]: faults against real processes;
// docs/RELIABILITY.md.
import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { copyOfDist } from '../harness/dist-copy';
import { seededRandom } from '../sim/random';
import { ask } from './ask';
import { RowOver, within } from './deadline';
import { diagnose } from './diagnosis';
import { asJson, hasPassed, isWithoutProof, printResult, printTable, type Result } from './results';
import { type Rig, startRig } from './rig';
import type { Outcome, Row } from './row';
import { allRows, rowsOfSuite, rowsWanted, usualRows } from './rows';
import { startSweeper } from './sweep';

const { values } = parseArgs({
  options: {
    suite: { type: 'boolean', default: false },
    rows: { type: 'string' },
    seed: { type: 'string' },
    json: { type: 'boolean', default: false },
    keep: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '20' },
  },
});
const seed = Number(values.seed ?? Math.floor(Math.random() * 1e9));
if (!Number.isSafeInteger(seed)) usage(`--seed ${values.seed}: must be a whole number`);
const minutes = Number(values.minutes);
if (!(minutes > 0)) usage(`--minutes ${values.minutes}: must be a number above 0`);
// With --json standard output contains one document only; other output goes to standard error.
if (values.json) console.log = console.error;

/** Time limit of the start of a rig, which belongs to no row. */
const RIG_MS = 120_000;
const STOP_MS = 45_000;
const DOCTOR_MS = 30_000;
/** Runs of a row whose fault met too little work. */
const ATTEMPTS = 3;

const sweeper = startSweeper();
const dist = copyOfDist(['ledger-handlers.js', 'clock-shift.js'].map((file) => join(__dirname, file)));
sweeper.addFolder(dist);
let rig: Rig | null = null;
let ending: Promise<void> | null = null;

/**
 * Runs a row, and again when nothing broke but the fault met too little work: such a run proves nothing either way. A row that
 * proves nothing `ATTEMPTS` times fails.
 */
async function runRow(row: Row, attempt = 1): Promise<Result> {
  const result = await runOnce(row);
  if (!isWithoutProof(result) || attempt === ATTEMPTS || ending) return result;
  console.log(`again   ${row.id}: ${result.violations.join('; ')}`);
  return await runRow(row, attempt + 1);
}

/** Runs a row once. Afterwards the rig must be intact, otherwise the next row gets a new one. */
async function runOnce(row: Row): Promise<Result> {
  const isAlone = row.slots !== undefined || row.databaseBytes !== undefined || row.hosts !== undefined;
  if (isAlone) await discard(false);
  rig ??= await within(RIG_MS, startRig(dist, sweeper, row));
  const startedAt = performance.now();
  const random = seededRandom(seed + [...row.id].reduce((sum, letter) => sum * 31 + letter.charCodeAt(0), 7));
  let outcome: Outcome;
  let diagnosis: string[] = [];
  try {
    outcome = await within(
      (row.limitS + (row.isOnDemand ? minutes * 60 : 0)) * 1000,
      row.run({ rig, random, isSuite: values.suite, minutes }),
    );
  } catch (error) {
    outcome = { violations: [(error as Error).message], facts: {} };
    if (error instanceof RowOver && !ending) diagnosis = await diagnose(rig);
  }
  if (outcome.violations.length === 0) outcome.violations.push(...(await doctorsFindings(rig)));
  const seconds = (performance.now() - startedAt) / 1000;
  diagnosis.push(...(outcome.diagnosis ?? []));
  const ended = rig.surprises();
  if (ended.length > 0) outcome.violations.push(`ended by themselves: ${ended.join(', ')}`);
  if (outcome.violations.length > 0 || isAlone) await discard(outcome.violations.length > 0);
  return { row, ...outcome, seconds, diagnosis };
}

/** Checks G2: nothing that a row leaves may need a manual repair. */
async function doctorsFindings({ client }: Rig): Promise<string[]> {
  const examined = ask(client, 'examine').then(({ items }) => items as { check: string; about: string }[]);
  return await within(DOCTOR_MS, examined).then(
    (items) => items.map(({ check, about }) => `G2: the doctor finds ${check}: ${about}`),
    (error: Error) => [`the doctor does not answer: ${error.message}`],
  );
}

/** Ends the rig of a failed row, so that nothing of it runs beside the next one. */
async function discard(isFailed: boolean): Promise<void> {
  const failed = rig;
  rig = null;
  if (!failed || ending) return;
  if (values.keep && isFailed) console.log(`logs and ledger: ${await keep(failed)}`);
  await within(STOP_MS, failed.stop()).catch((error: Error) =>
    console.error(`a rig did not stop: ${error.message}`),
  );
}

/** Copies everything that helps to understand a failure: logs, ledger, the engine's tables. Returns the folder. */
async function keep(failed: Rig): Promise<string> {
  const copy = `${failed.fleet.dir}-kept`;
  spawnSync('sh', ['-c', `mkdir -p ${copy} && cp -r ${failed.fleet.dir}/logs ${failed.ledger.path} ${copy}`]);
  for (const table of ['executions', 'tasks', 'events', 'workers', 'outbox', 'instance_states']) {
    const rows = await failed.sql(`select * from executions.${table}`).catch(() => []);
    writeFileSync(join(copy, `${table}.jsonl`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''));
  }
  return copy;
}

/** Stops the rig in order if there is time, then ends everything that is left of it. */
function stop(isHurried: boolean): Promise<void> {
  ending ??= (async () => {
    if (rig && !isHurried) await within(STOP_MS, rig.stop()).catch(() => undefined);
    await sweeper.close();
    rmSync(dist, { recursive: true, force: true });
  })();
  return ending;
}

function usage(problem: string): never {
  console.error(`${problem}; rows are ${allRows.map((row) => row.id).join(', ')}`);
  process.exit(64);
}

function chosenRows(): readonly Row[] {
  if (values.rows) {
    const { rows, unknown } = rowsWanted(values.rows.split(','));
    return unknown.length > 0 ? usage(`unknown: ${unknown.join(', ')}`) : rows;
  }
  if (values.list) return allRows;
  return values.suite ? rowsOfSuite(seededRandom(seed)) : usualRows;
}

/** Only root can mount: another user runs the whole test as root of a user namespace. */
function elsewhere(rows: readonly Row[]): number | null {
  if (process.geteuid?.() === 0 || !rows.some((row) => row.needsDisks)) return null;
  const again = ['-Urm', process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  return spawnSync('unshare', again, { stdio: 'inherit' }).status ?? 70;
}

async function main(): Promise<number> {
  const chosen = chosenRows();
  if (values.list) {
    // In the format of docs/RELIABILITY.md.
    for (const row of chosen) console.log(`| ${row.id} | ${row.title} | ${row.pass} |`);
    return 0;
  }
  const status = elsewhere(chosen);
  if (status !== null) return status;
  console.log(`faults: ${chosen.map((row) => row.id).join(', ')}; seed ${seed}`);
  const results: Result[] = [];
  for (const row of chosen) {
    const result = await runRow(row).catch(async (error: Error): Promise<Result> => {
      await discard(true);
      return { row, violations: [`no rig: ${error.message}`], facts: {}, seconds: 0, diagnosis: [] };
    });
    if (ending) return 130;
    results.push(result);
    printResult(result);
  }
  printTable(results);
  const failed = results.filter((result) => !hasPassed(result));
  if (failed.length > 0) {
    const again = failed.map((result) => result.row.id).join(',');
    console.log(`again: npm run fault -- --rows ${again} --seed ${seed}${values.suite ? ' --suite' : ''}`);
  }
  console.log(`${results.length - failed.length} passed, ${failed.length} failed`);
  if (values.json) process.stdout.write(`${asJson(results, seed)}\n`);
  return failed.length === 0 ? 0 : 1;
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => void stop(true).then(() => process.exit(130)));
main().then(
  (status) => stop(false).then(() => process.exit(status)),
  async (error) => {
    console.error(error);
    await stop(false);
    process.exit(70);
  },
);
