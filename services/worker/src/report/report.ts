import type { executionsRpc } from '@baton/contracts';
import type { Clock, Log } from '@baton/kernel';
import type { ExecutionsClient } from '../adapters/executions.client';
import { type HeldTask, type HeldTasks, takesPlace } from '../claim/held-task';
import type { TakenPlaces } from '../claim/leases';
import type { Slots } from '../claim/slots';
import { createOutcomeQueue, type OutcomeItem, type OutcomeQueue } from './outcome-queue';

/**
 * Reports outcomes to the engine until it answers. Outcomes of operations that end at the same moment are sent together. Outcomes
 * that arrive while a call is under way go with another, parallel call; those of one execution are sent one call after the other.
 * The slots of the reported operations, and some more, are offered as room for operations that become ready. Crash here: the
 * leases run out and the engine's reaper repairs.
 */
export interface Reporter {
  /** Adds the outcome of an ended task; the task is released when the engine has answered. */
  add(task: HeldTask, outcome: executionsRpc.TaskOutcome): void;
  /** Drops the outcome of a task whose lease is lost. */
  discard(task: HeldTask): void;
}

export interface ReporterDeps {
  executions: Pick<ExecutionsClient, 'finish'>;
  tasks: HeldTasks;
  slots: Slots;
  clock: Clock;
  log: Log;
  startLeases: (leases: readonly executionsRpc.TaskLease[], taken: TakenPlaces, sentAt: number) => void;
  /** Releases the slot of a task and removes the task. */
  release: (task: HeldTask) => void;
  isDraining: () => boolean;
}

const MAX_CALLS = 8;
/** Each call offers this share (one in four) of the free slots, in addition to those of the reported operations. */
const EXTRA_SHARE = 4;

export function createReporter(deps: ReporterDeps): Reporter {
  const queue = createOutcomeQueue();
  let calls = 0;
  let isScheduled = false;
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    // After this turn of the event loop, so that outcomes of the same turn are sent together.
    setImmediate(() => {
      isScheduled = false;
      pump();
    });
  };
  const pump = (): void => {
    const now = deps.clock.monotonic();
    for (const group of queue.groupsDue(now, MAX_CALLS - calls)) void send(group);
    const next = queue.nextDueAt(now);
    clearTimeout(timer);
    if (next !== null) timer = setTimeout(pump, next - now);
  };
  const send = async (executionIds: readonly string[]): Promise<void> => {
    calls++;
    try {
      await tell(deps, queue, executionIds);
    } finally {
      calls--;
      schedule();
    }
  };

  return {
    add: (task, outcome) => {
      task.phase = 'reporting';
      queue.add({ task, outcome });
      // It is the only task, so no other can end in this turn.
      if (deps.tasks.size === 1) pump();
      else schedule();
    },
    discard: (task) => {
      // When it is in flight, the engine refuses it, and the answer releases the task.
      if (queue.remove(task)) deps.release(task);
    },
  };
}

/** Makes one call; without an answer, everything stays in the queue. */
async function tell(deps: ReporterDeps, queue: OutcomeQueue, executionIds: readonly string[]): Promise<void> {
  const batch = queue.take(executionIds);
  // The queue returns outcomes of one tenant at a time.
  const tenant = batch[0]!.task.assignment.tenant;
  const free = Math.floor(deps.slots.freeFor(tenant) / EXTRA_SHARE);
  const extra = deps.isDraining() ? 0 : deps.slots.takeSome(free, tenant);
  const room = deps.isDraining() ? 0 : deps.slots.keepable(placesOf(batch), tenant) + extra;
  const sentAt = deps.clock.monotonic();
  let answer: executionsRpc.FinishTasksResponse;
  try {
    const outcomes = batch.map((item) => item.outcome);
    answer = await deps.executions.finish(outcomes, room);
  } catch (error) {
    deps.slots.give(extra, tenant);
    queue.failed(executionIds, deps.clock.monotonic());
    const reason = (error as Error).message;
    deps.log.warn({ executionIds, reason }, 'outcomes not answered; sent again');
    return;
  }
  const untaken = new Set(answer.untaken);
  if (untaken.size > 0) {
    queue.failed([...untaken], deps.clock.monotonic());
    deps.log.warn({ executionIds: [...untaken] }, 'outcomes not taken; sent again');
  }
  const told = batch.filter(({ task }) => !untaken.has(task.executionId));
  queue.answered(
    executionIds.filter((id) => !untaken.has(id)),
    told,
  );
  for (const taskId of answer.refused) {
    const attempt = deps.tasks.get(taskId)?.attempt;
    deps.log.warn({ taskId, attempt }, 'outcome refused: the attempt is not the current one');
  }
  for (const { task } of told) deps.tasks.remove(task);
  deps.startLeases(answer.leases, { places: extra + placesOf(told), tenant }, sentAt);
}

const placesOf = (items: readonly OutcomeItem[]): number =>
  items.filter(({ task }) => takesPlace(task)).length;
