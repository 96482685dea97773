import { type executionsRpc, type OperationAssignment, operationAssignment } from '@baton/contracts';
import { type Clock, isoInstant, type Log } from '@baton/kernel';
import { type HeldTask, type HeldTasks, isOwned, takesPlace } from './held-task';
import type { Slots } from './slots';

export interface LeaseDeps {
  tasks: HeldTasks;
  slots: Slots;
  clock: Clock;
  log: Log;
  /** Runs the operation to its end and reports it; never throws. */
  run: (task: HeldTask) => void;
}

/** Slots that the caller has taken for a tenant; the leases are for operations of this tenant. */
export interface TakenPlaces {
  places: number;
  tenant: string;
}

export const NO_PLACES: TakenPlaces = { places: 0, tenant: '' };

/**
 * Starts the operations of new leases in slots that the caller has taken; releases the slots that are left over. `sentAt`:
 * monotonic ms when the call that granted the leases was sent.
 */
export function startLeases(
  deps: LeaseDeps,
  leases: readonly executionsRpc.TaskLease[],
  { places, tenant }: TakenPlaces,
  sentAt: number,
): void {
  let left = places;
  for (const lease of leases) {
    const known = deps.tasks.get(lease.taskId);
    // The same lease again: an answer was lost, or two wake-ups named the same task.
    if (known && known.attempt >= lease.attempt) continue;
    // It ran here before this answer arrived, or the guard here gave the lease up while the engine still counted it.
    if (deps.tasks.hasRun(lease.taskId, lease.attempt)) {
      deps.log.warn(
        { taskId: lease.taskId, attempt: lease.attempt },
        'attempt has run here already; not started again',
      );
      continue;
    }
    const assignment = readAssignment(deps, lease);
    if (!assignment) continue;
    const task: HeldTask = {
      taskId: lease.taskId,
      executionId: lease.executionId,
      attempt: lease.attempt,
      leaseMs: lease.leaseMs,
      assignment,
      control: new AbortController(),
      startedAt: isoInstant(deps.clock.now()),
      leaseUntil: sentAt + lease.leaseMs,
      proof: lease.proof,
      phase: 'running',
    };
    // The answer stayed unread while this process was paused: another worker may hold the task by now.
    if (!isOwned(task, deps.clock)) {
      deps.log.warn(
        { taskId: task.taskId, attempt: task.attempt },
        'lease came too late; operation not started',
      );
      continue;
    }
    if (known) deps.tasks.stop(known, 'lease-lost');
    deps.tasks.add(task);
    if (takesPlace(task)) left--;
    deps.run(task);
  }
  deps.slots.give(left, tenant);
}

/**
 * Parses the assignment. Null for one of another release: the lease runs out, and a worker that understands the assignment may
 * get the task.
 */
function readAssignment({ log }: LeaseDeps, lease: executionsRpc.TaskLease): OperationAssignment | null {
  try {
    return operationAssignment.parse(JSON.parse(lease.assignmentJson));
  } catch (error) {
    log.error({ taskId: lease.taskId, reason: (error as Error).message }, 'assignment not understood');
    return null;
  }
}
