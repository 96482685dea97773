import type { Happening } from '@baton/task-graph';
import { byKey, eachAlone } from '../../loops/each-alone';
import { inTurn, newRound } from '../../loops/rounds';
import type { Ports } from '../../ports';
import { type RunStepDeps, runStep } from '../steps/run-step';
import { type DeferredTask, deferredUntil, forgottenDeferred } from '../store/deferred.sql';

export type WakeDeferredDeps = Pick<Ports, 'db' | 'log'> & RunStepDeps;

const BATCH = 200;
/** How long it may take from an end until whoever ended it looks. */
const ON_ITS_WAY_MS = 2_000;

/**
 * Lets the operations look that wait for one of these executions, as far as it has ended. Called with each end
 * (after-ends.ts) and by whoever has just stored that an operation waits, so that neither misses the
 * other. Repeating is harmless. A crash before it: engine/loops/engine.loops.ts (settle-deferred), or the operation's own time.
 */
export async function wakeEnded(deps: WakeDeferredDeps, executionIds: readonly string[]): Promise<void> {
  if (executionIds.length === 0) return;
  const byExecution = byKey(await deferredUntil(deps.db, executionIds), (task) => task.execution_id);
  await eachAlone(byExecution, ([executionId, tasks]) => wakeTasks(deps, executionId, tasks));
}

/** Wakes operations whose wake-up was lost; answers how many there were. */
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
