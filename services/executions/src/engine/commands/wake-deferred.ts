import type { Happening } from '@baton/task-graph';
import { byKey, eachAlone } from '../../loops/each-alone';
import { inTurn, newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { type RunStepDeps, runStep } from '../steps/run-step';
import { type DeferredTask, deferredUntil, forgottenDeferred } from '../store/deferred.sql';

export type WakeDeferredDeps = Pick<Ports, 'db' | 'log'> & RunStepDeps;

const BATCH = 200;
/** How long the process that ended an execution may take until it wakes the waiting operations. */
const ON_ITS_WAY_MS = 2_000;

/**
 * Wakes the operations that wait for one of these executions, if it has ended. Called with each end (after-ends.ts), and after
 * the store of a waiting operation, so that neither misses the other. Repeating is harmless. After a crash before it,
 * engine/loops/engine.loops.ts (settle-deferred) wakes them, or the operation's own time does.
 */
export async function wakeEnded(deps: WakeDeferredDeps, executionIds: readonly string[]): Promise<void> {
  if (executionIds.length === 0) return;
  const byExecution = byKey(await deferredUntil(deps.db, executionIds), (task) => task.execution_id);
  await eachAlone(byExecution, ([executionId, tasks]) => wakeTasks(deps, executionId, tasks));
}

/** Wakes operations whose wake-up was lost; returns their number. */
export async function wakeForgotten(deps: WakeDeferredDeps, round = newRound()): Promise<number> {
  const forgotten = await inTurn(deps, round, {
    limit: BATCH,
    read: (place) => forgottenDeferred(deps.db.query, ON_ITS_WAY_MS, BATCH, place),
    keyOf: (task) => task.execution_id,
    work: (executionId, tasks) => wakeTasks(deps, executionId, tasks),
  });
  return forgotten.length;
}

async function wakeTasks(
  deps: WakeDeferredDeps,
  executionId: string,
  tasks: readonly DeferredTask[],
): Promise<void> {
  await runStep(deps, executionId, ({ loaded }) => {
    const idxs = tasks.flatMap(({ id }) => loaded.idxById.get(id) ?? []);
    return { happenings: idxs.map((idx): Happening => ({ kind: 'wake', idx })) };
  });
}
