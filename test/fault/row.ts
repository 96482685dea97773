import type { Random } from '../sim/random';
import { type JudgeOptions, judge } from './judge';
import { type Load, startLoad } from './load';
import type { Rig } from './rig';
import { until } from './until';

/** A row of the fault matrix that is run. */
export interface Row {
  /** Name in the matrix; several rows of one matrix row end in a letter. */
  id: string;
  title: string;
  /** Part of `npm test`. */
  isInSuite: boolean;
  /** What has to hold, with its numbers. */
  pass: string;
  run(at: RowContext): Promise<Outcome>;
}

export interface RowContext {
  rig: Rig;
  random: Random;
  /** Short run for `npm test`; long one otherwise. */
  isSuite: boolean;
}

/** `facts`: what was measured, for the table. */
export interface Outcome {
  violations: string[];
  facts: Record<string, string | number>;
}

/** Least work before a fault: a run on an idle system proves nothing. */
const FLOOR = { ended: 30, inFlight: 2 };
const FLOOR_MS = 60_000;
const DRAIN_MS = 120_000;

/** Waits for the traffic floor. @throws when there is too little work. */
export async function untilBusy(load: Load): Promise<{ ended: number; inFlight: number }> {
  return await until(
    `at least ${FLOOR.ended} operations ended and ${FLOOR.inFlight} under way`,
    FLOOR_MS,
    () => {
      const runs = load.runs();
      const ended = runs.filter((run) => run.endedAt !== null).length;
      const inFlight = runs.length - ended;
      return ended >= FLOOR.ended && inFlight >= FLOOR.inFlight ? { ended, inFlight } : null;
    },
    20,
  );
}

/**
 * The usual row: lanes work, the fault strikes in the middle, everything heals, every execution ends, the judge looks.
 * `strike` answers facts; what it throws is a violation.
 */
export async function underLoad(
  { rig }: RowContext,
  strike: (load: Load) => Promise<{ facts?: Outcome['facts']; violations?: string[]; judge?: JudgeOptions }>,
): Promise<Outcome> {
  const load = await startLoad(rig);
  const violations: string[] = [];
  let facts: Outcome['facts'] = {};
  let options: JudgeOptions = {};
  try {
    const before = await untilBusy(load);
    facts = { before: before.ended, 'in flight': before.inFlight };
    const struck = await strike(load);
    facts = { ...facts, ...struck.facts };
    violations.push(...(struck.violations ?? []));
    options = struck.judge ?? {};
  } catch (error) {
    violations.push((error as Error).message);
  }
  // Whatever happened: nothing of this row goes on in the next one.
  await rig.heal().catch((error: Error) => violations.push(`not healed: ${error.message}`));
  await load.finish(DRAIN_MS).catch((error: Error) => violations.push(error.message));
  const verdict = await judge(rig, load.asked, options);
  violations.push(...verdict.violations);
  facts = {
    ...facts,
    executions: verdict.executions,
    operations: load.runs().length,
    repeated: verdict.repeats,
  };
  const errors = [...load.errors].map(([kind, count]) => `${count} x ${kind}`).join(', ');
  return { violations, facts: errors === '' ? facts : { ...facts, 'clients saw': errors } };
}
