import type { executionsRpc } from '@baton/contracts';
import type { EngineDeps } from '../engine/deps';
import { leasesOf } from '../engine/leases';
import { runStep, type StepContext } from '../engine/run-step';
import { noteAnswered } from '../engine/wake-ups';
import { isAtVersion } from '../store/executions.sql';

/**
 * Leases ready operations of an execution to a worker, the named one first. Asking again answers the same lease; a task
 * that is gone or taken is simply missing. A crash after the commit: the lease runs out, loops/engine.loops.ts.
 */
export async function claimTask(
  deps: EngineDeps,
  request: executionsRpc.ClaimTaskRequest,
): Promise<executionsRpc.TaskLease[]> {
  const { executionId, workerId } = request;
  const heldIn = ({ loaded }: StepContext): number[] => {
    const named = loaded.idxById.get(request.taskId) ?? null;
    return named !== null && loaded.holders.get(named) === workerId ? [named] : [];
  };
  if (await hasNothing(deps, request, heldIn)) return [];
  const done = await runStep(deps, executionId, (context) => {
    const { loaded } = context;
    const preferred = loaded.idxById.get(request.taskId) ?? null;
    noteAnswered(loaded, preferred);
    const held = heldIn(context);
    if (held.length === 0 && loaded.unclaimed.size === 0) return null;
    return { happenings: [], claim: { workerId, room: Math.max(1, request.room) - held.length, preferred } };
  });
  if (!done) return [];
  // What it held before the step is among what it holds now.
  const named = heldIn(done.context).filter((idx) => !done.step.claimed.includes(idx));
  return leasesOf(deps, done.context, [...named, ...done.step.claimed]);
}

/** Whether the graph in memory has nothing to lease and is as the database has it: the usual answer to a late wake-up. */
async function hasNothing(
  deps: EngineDeps,
  { executionId, taskId }: executionsRpc.ClaimTaskRequest,
  heldIn: (context: StepContext) => number[],
): Promise<boolean> {
  const loaded = deps.memory.known(executionId);
  if (!loaded || loaded.unclaimed.size > 0) return false;
  if (heldIn({ execution: loaded.execution, loaded }).length > 0) return false;
  noteAnswered(loaded, loaded.idxById.get(taskId) ?? null);
  const { version } = loaded;
  return await isAtVersion(deps.db, executionId, version);
}
