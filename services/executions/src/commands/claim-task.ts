import type { executionsRpc } from '@baton/contracts';
import type { EngineDeps } from '../engine/deps';
import { leasesOf } from '../engine/leases';
import { runStep } from '../engine/run-step';

/**
 * Leases ready operations of an execution to a worker, the named one first. Asking again answers the same lease; a task
 * that is gone or taken is simply missing. A crash after the commit: the lease runs out, loops/engine.loops.ts.
 */
export async function claimTask(
  deps: EngineDeps,
  request: executionsRpc.ClaimTaskRequest,
): Promise<executionsRpc.TaskLease[]> {
  const done = await runStep(deps, request.executionId, ({ loaded }) => {
    const named = loaded.idxById.get(request.taskId) ?? null;
    const held = named !== null && loaded.holders.get(named) === request.workerId ? [named] : [];
    if (held.length === 0 && loaded.unclaimed.size === 0) return null;
    const room = Math.max(1, request.room) - held.length;
    return {
      happenings: [],
      claim: { workerId: request.workerId, room, preferred: named },
      after: (tx, context, step) => leasesOf(deps, tx, context, [...held, ...step.claimed]),
    };
  });
  return done?.value ?? [];
}
