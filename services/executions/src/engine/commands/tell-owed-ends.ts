import { isAppError, systemClock } from '@baton/kernel';
import {
  noteEndHeard,
  owedEnds,
  readExecution,
  type TimedExecution,
} from '../../executions/store/executions.sql';
import { inTurn, newRound, type Round } from '../../loops/rounds';
import type { Ports } from '../../ports';
import type { Outcome } from '../../store/rows';
import { type EndExecutionDeps, tellDeployments } from './end-execution';

export type TellOwedEndsDeps = Pick<Ports, 'db' | 'log'> & EndExecutionDeps;

/** Executions in one tick. */
const BATCH = 50;
/** Ends of many executions at a time, after an import. */
const MANY = { limit: 500, atOnce: 16 };
const MANY_MS = 60_000;

/**
 * Tells deployments the ends that were stored before it heard them, such as ends of forced cancels while it was away. Any replica
 * repeats this, each end in its turn, until deployments has heard it. `wake_at` of an ended row marks an owed end. If the
 * process crashes after the answer, the end is told again, which changes nothing there.
 */
export const tellOwedEnds = (deps: TellOwedEndsDeps, round: Round, how: Pace = { limit: BATCH }) =>
  inTurn(deps, round, {
    ...how,
    read: (place) => owedEnds(deps.db.query, how.limit, place),
    keyOf: ({ id }) => id,
    async work(id) {
      const execution = await readExecution(deps.db.query, id);
      if (execution?.phase === 'ended') await tellEnd(deps, execution);
    },
  });

interface Pace {
  limit: number;
  atOnce?: number;
}

/**
 * Tells the owed ends of an import, so that its deployments show their latest executions when it is done. After a minute, or when some
 * cannot be told now, the loop goes on.
 */
export async function tellManyEnds(deps: TellOwedEndsDeps): Promise<void> {
  const round = newRound();
  const until = systemClock.monotonic() + MANY_MS;
  while (systemClock.monotonic() < until && round.failed.size === 0)
    if ((await tellOwedEnds(deps, round, MANY)).length === 0) return;
}

/**
 * Tells the stored end of an execution and notes that it was heard; a deployment that is gone needs no telling. When the row has
 * moved on meanwhile, the note is left out: a resume came later, or the next look tells it.
 */
export async function tellEnd(deps: TellOwedEndsDeps, execution: TimedExecution): Promise<void> {
  try {
    await tellDeployments(deps, execution, { status: execution.status as Outcome['status'] });
  } catch (error) {
    if (!isAppError(error, 'not_found_error')) throw error;
  }
  if (execution.wake_at !== null) await noteEndHeard(deps.db, execution.id, execution.version);
}
