import type { Random } from '../sim/random';
import { diagnose } from './diagnosis';
import { type JudgeOptions, judge } from './judge';
import type { LedgerRun } from './ledger';
import { type Load, startLoad } from './load';
import type { Rig } from './rig';
import { until } from './until';

/** An executable row of the fault matrix. */
export interface Row {
  /** Row of the matrix (docs/RELIABILITY.md), with a letter when several rows here belong to one of the matrix. */
  id: string;
  title: string;
  /** The conditions that must hold, with their numbers. */
  pass: string;
  /** Time limit in seconds, including the traffic floor and the wait for the ends of executions. */
  limitS: number;
  /** Slots of each worker; a row with this field gets its own rig. */
  slots?: number;
  /** Size of a separate disk for PostgreSQL; a row with this field gets its own rig. */
  databaseBytes?: number;
  /** Number of hosts for agents, beside two gateways; a row with this field gets its own rig, and needs root. */
  hosts?: number;
  /** The row mounts its own disks: without root permissions it runs in a user namespace. */
  needsDisks?: boolean;
  /** Runs only when requested by its id. */
  isOnDemand?: boolean;
  run(at: RowContext): Promise<Outcome>;
}

/** Returns the number in the matrix: F1e is one of the rows of F1. */
export const matrixRow = (row: Row): string => row.id.replace(/[a-z]+$/, '');

export interface RowContext {
  rig: Rig;
  random: Random;
  /** True in the short run of `npm test`; false in the long run. */
  isSuite: boolean;
  /** Duration of rows that can last for any time. */
  minutes: number;
}

/** `facts`: measurements for the table. */
export interface Outcome {
  violations: string[];
  facts: Record<string, string | number>;
  /** Diagnosis of the rig when executions did not end. */
  diagnosis?: string[];
}

/** Minimum of work before a fault: a fault on an idle system proves nothing. */
const FLOOR = { ended: 40, inFlight: 5, perS: 5 };
const FLOOR_MS = 45_000;
const DRAIN_MS = 90_000;

export interface Traffic {
  ended: number;
  inFlight: number;
  /** Operations per second that ended in the last seconds before the fault. */
  perS: number;
}

const RATE_MS = 3_000;

/** Waits for the traffic floor. @throws when there is too little work: the row would prove nothing */
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

/** Returns the number of operations per second that ended between two instants (epoch ms). */
export function rateOf(runs: readonly LedgerRun[], from: number, to: number): number {
  const ended = runs.filter((run) => run.endedAt !== null && run.endedAt >= from && run.endedAt < to);
  return (ended.length * 1000) / (to - from);
}

/** Results of a fault. */
export interface Struck {
  facts?: Outcome['facts'];
  violations?: string[];
  judge?: JudgeOptions;
}

/**
 * Runs a usual row: lanes work, the fault strikes in the middle, everything heals, every execution ends, the judge checks.
 * `strike` causes the fault and returns facts; an exception of it counts as a violation.
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
  // In any case: nothing of this row may continue during the next one.
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
