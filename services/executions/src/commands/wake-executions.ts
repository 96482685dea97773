import type { Happening } from '@baton/task-graph';
import type { EngineDeps } from '../engine/deps';
import { eachAlone } from '../engine/each-alone';
import { runStep } from '../engine/run-step';
import { dueExecutions, lockExecution, updateExecution } from '../store/executions.sql';
import { settleNested } from './await-nested';

const BATCH = 50;
/** How long a phase without workers may last before another replica drives it as well. */
const STALLED_MS = 5_000;

/** Executions whose timer is due or whose driver died: told again, in this process. */
export async function wakeExecutions(deps: EngineDeps): Promise<number> {
  const due = await dueExecutions(deps.db.query, BATCH, STALLED_MS);
  await eachAlone(due, async ({ id, phase }) => {
    if (phase === 'awaiting') await settleNested(deps, id);
    else if (phase === 'running' || phase === 'waiting') await wakeExecution(deps, id);
    else deps.wake.drive(id);
  });
  return due.length;
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
