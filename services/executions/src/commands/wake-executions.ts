import type { Happening } from '@baton/task-graph';
import type { EngineDeps } from '../engine/deps';
import { eachAlone } from '../engine/each-alone';
import { inTurn, newRound, type Round } from '../engine/rounds';
import { runStep } from '../engine/run-step';
import {
  betweenPhases,
  type DueExecution,
  dueTimers,
  lockExecution,
  updateExecution,
} from '../store/executions.sql';
import type { Place } from '../store/round.sql';
import { settleNested } from './await-nested';

const BATCH = 50;
/** How long a phase without workers may last before another replica drives it as well. */
const STALLED_MS = 5_000;

/** Where the loop stands in those with a timer and in those between two phases. */
export interface WakeRounds {
  timers: Round;
  phases: Round;
}

export const newWakeRounds = (): WakeRounds => ({ timers: newRound(), phases: newRound() });

/**
 * Executions whose timer is due or whose driver died: told again, in this process. Each in its turn: those that nobody can
 * drive, as on a broken deployment, are the oldest for ever.
 */
export async function wakeExecutions(deps: EngineDeps, rounds = newWakeRounds()): Promise<number> {
  const { query } = deps.db;
  const limit = BATCH;
  const keyOf = ({ id }: DueExecution) => id;
  const work = async (id: string, [row]: readonly DueExecution[]) => {
    if (row?.phase === 'awaiting') await settleNested(deps, id);
    else if (row?.phase === 'running' || row?.phase === 'waiting') await wakeExecution(deps, id);
    else deps.wake.drive(id);
  };
  let count = 0;
  const looks: [Round, (place: Place | null) => Promise<DueExecution[]>][] = [
    [rounds.timers, (place) => dueTimers(query, limit, place)],
    [rounds.phases, (place) => betweenPhases(query, limit, STALLED_MS, place)],
  ];
  await eachAlone(looks, async ([round, read]) => {
    count += (await inTurn(deps, round, { limit, read, keyOf, work })).length;
  });
  return count;
}

/**
 * Handles the due timers of one execution: retries, the deadline after a failure, its scheduled time, the limit of what
 * it has started.
 */
export async function wakeExecution(deps: EngineDeps, executionId: string): Promise<void> {
  const done = await runStep(deps, executionId, ({ execution, loaded }) => {
    const due = [...loaded.timers].filter(([, at]) => at <= execution.now_ms);
    if (due.length === 0) return null;
    return { happenings: due.map(([idx]): Happening => ({ kind: 'due', idx })) };
  });
  if (done) return;
  await settleNested(deps, executionId);
  const isReleased = await deps.db.tx(async (tx) => {
    const execution = await lockExecution(tx, executionId);
    if (execution?.status !== 'scheduled' || Date.parse(execution.scheduled_for!) > execution.now_ms)
      return false;
    await updateExecution(tx, executionId, { status: 'queued', wake_at: null });
    return true;
  });
  if (isReleased) deps.wake.dequeue();
}
