import type { Happening } from '@baton/task-graph';
import type { EngineDeps } from '../engine/deps';
import { eachAlone } from '../engine/each-alone';
import { runStep } from '../engine/run-step';
import { type DeferredTask, deferredUntil, forgottenDeferred } from '../store/deferred.sql';

const BATCH = 200;
/** How long the message of an end may be on its way. */
const ON_ITS_WAY_MS = 2_000;

/**
 * Lets the operations look that wait for one of these executions, as far as it has ended. Called with each end
 * (messages/on-execution-finished.ts) and by whoever has just stored that an operation waits, so that neither misses the
 * other. Repeating is harmless. A crash before it: loops/engine.loops.ts (settle-deferred), or the operation's own time.
 */
export async function wakeEnded(deps: EngineDeps, executionIds: readonly string[]): Promise<void> {
  if (executionIds.length === 0) return;
  await wakeTasks(deps, await deferredUntil(deps.db, executionIds));
}

/** Wakes operations whose wake-up was lost; answers how many there were. */
export async function wakeForgotten(deps: EngineDeps): Promise<number> {
  const forgotten = await forgottenDeferred(deps.db.query, ON_ITS_WAY_MS, BATCH);
  await wakeTasks(deps, forgotten);
  return forgotten.length;
}

async function wakeTasks(deps: EngineDeps, tasks: readonly DeferredTask[]): Promise<void> {
  const byExecution = new Map<string, string[]>();
  for (const { id, execution_id } of tasks)
    byExecution.set(execution_id, [...(byExecution.get(execution_id) ?? []), id]);
  await eachAlone(byExecution, ([executionId, ids]) =>
    runStep(deps, executionId, ({ loaded }) => {
      const idxs = ids.flatMap((id) => loaded.idxById.get(id) ?? []);
      return { happenings: idxs.map((idx): Happening => ({ kind: 'wake', idx })) };
    }),
  );
}
