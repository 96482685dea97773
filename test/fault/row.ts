import type { Random } from '../sim/random';
import { diagnose } from './diagnosis';
import { type JudgeOptions, judge } from './judge';
import type { LedgerRun } from './ledger';
import { type Load, startLoad } from './load';
import type { Rig } from './rig';
import { until } from './until';

/** A row of the fault matrix that is run. */
export interface Row {
  /** Row of the matrix (docs/RELIABILITY.md), with a letter where several of ours belong to one. */
  id: string;
  title: string;
  /** What has to hold, with its numbers. */
  pass: string;
  /** Seconds after which it has failed, the floor and the wait for the ends included. */
  limitS: number;
  /** Places of each worker; such a row gets a rig of its own. */
  slots?: number;
  /** PostgreSQL lies on a disk of its own of that size; such a row gets a rig of its own. */
  databaseBytes?: number;
  /** Mounts disks of its own: whoever is not root plays it in a namespace. */
  needsDisks?: boolean;
  /** Runs only when it is asked for by its id. */
  isOnDemand?: boolean;
  run(at: RowContext): Promise<Outcome>;
}

/** Number in the matrix: F1e is one of the rows of F1. */
export const matrixRow = (row: Row): string => row.id.replace(/[a-z]+$/, '');

export interface RowContext {
  rig: Rig;
  random: Random;
  /** Short run for `npm test`; long one otherwise. */
  isSuite: boolean;
  /** Of rows that may last for any time. */
  minutes: number;
}

/** `facts`: what was measured, for the table. */
export interface Outcome {
  violations: string[];
  facts: Record<string, string | number>;
  /** What everything waited for when executions did not end. */
  diagnosis?: string[];
}

/** Least work before a fault: a run on an idle system proves nothing. */
const FLOOR = { ended: 40, inFlight: 5, perS: 5 };
const FLOOR_MS = 45_000;
const DRAIN_MS = 90_000;

export interface Traffic {
  ended: number;
  inFlight: number;
  /** Operations that ended in the last seconds before the fault, a second. */
  perS: number;
}

const RATE_MS = 3_000;

/** Waits for the traffic floor. @throws when there is too little work: the row proves nothing then. */
async function untilBusy(load: Load): Promise<Traffic> {
  return await until(
    `floor: ${FLOOR.ended} operations ended, ${FLOOR.inFlight} under way, ${FLOOR.perS} a second`,
    FLOOR_MS,
    () => {
      const runs = load.runs();
      const ended = runs.filter((run) => run.endedAt !== null).length;
      const inFlight = runs.length - ended;
      const perS = rateOf(runs, Date.now() - RATE_MS, Date.now());
      const isBusy = ended >= FLOOR.ended && inFlight >= FLOOR.inFlight && perS >= FLOOR.perS;
      return isBusy ? { ended, inFlight, perS } : null;
    },
    50,
  );
}

/** Operations that ended between two instants (epoch ms), a second. */
export function rateOf(runs: readonly LedgerRun[], from: number, to: number): number {
  const ended = runs.filter((run) => run.endedAt !== null && run.endedAt >= from && run.endedAt < to);
  return (ended.length * 1000) / (to - from);
}

/** What a fault's striking has shown. */
export interface Struck {
  facts?: Outcome['facts'];
  violations?: string[];
  judge?: JudgeOptions;
}

/**
 * The usual row: lanes work, the fault strikes in the middle, everything heals, every execution ends, the judge looks.
 * `strike` answers facts; what it throws is a violation.
 */
export async function underLoad(
  { rig }: RowContext,
  strike: (load: Load, before: Traffic) => Promise<Struck>,
  lanes?: number,
): Promise<Outcome> {
  const load = await startLoad(rig, lanes);
  const violations: string[] = [];
  let facts: Outcome['facts'] = {};
  let options: JudgeOptions = {};
  try {
    const before = await untilBusy(load);
    facts = { 'before, operations/s': Math.round(before.perS), 'in flight': before.inFlight };
    const struck = await strike(load, before);
    facts = { ...facts, ...struck.facts };
    violations.push(...(struck.violations ?? []));
    options = struck.judge ?? {};
  } catch (error) {
    violations.push((error as Error).message);
  }
  // Whatever happened: nothing of this row goes on in the next one.
  await rig.heal().catch((error: Error) => violations.push(`not healed: ${error.message}`));
  let diagnosis: string[] = [];
  await load.finish(DRAIN_MS).catch(async (error: Error) => {
    violations.push(error.message);
    diagnosis = await diagnose(rig);
  });
  const verdict = await judge(rig, load.asked, options);
  violations.push(...verdict.violations);
  facts = {
    ...facts,
    executions: verdict.executions,
    operations: verdict.operations,
    repeated: verdict.repeats,
  };
  const errors = [...load.errors].map(([kind, count]) => `${count} x ${kind}`).join(', ');
  return { violations, facts: errors === '' ? facts : { ...facts, 'clients saw': errors }, diagnosis };
}
