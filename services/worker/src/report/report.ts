import type { executionsRpc } from '@baton/contracts';
import type { Clock, Log } from '@baton/kernel';
import type { ExecutionsClient } from '../adapters/executions.client';
import { type HeldTask, type HeldTasks, takesPlace } from '../claim/held-task';
import type { TakenPlaces } from '../claim/leases';
import type { Slots } from '../claim/slots';
import { createOutcomeQueue, type OutcomeItem, type OutcomeQueue } from './outcome-queue';

/**
 * Tells the engine what has ended, until it answers. What ends at the same moment travels together, and what comes while a
 * call is under way goes with another one beside it; those about one execution are told one after the other. The places of the reported operations, and some more, are offered as room
 * for newly ready ones. Crash here: the leases run out and the engine's reaper repairs.
 */
export interface Reporter {
  /** The task has ended; it is released when the engine has answered. */
  add(task: HeldTask, outcome: executionsRpc.TaskOutcome): void;
  /** The lease is gone: the outcome need not be told any more. */
  discard(task: HeldTask): void;
}

export interface ReporterDeps {
  executions: Pick<ExecutionsClient, 'finish'>;
  tasks: HeldTasks;
  slots: Slots;
  clock: Clock;
  log: Log;
  startLeases: (leases: readonly executionsRpc.TaskLease[], taken: TakenPlaces, sentAt: number) => void;
  /** Gives the place of a task back and forgets it. */
  release: (task: HeldTask) => void;
  isDraining: () => boolean;
}

const MAX_CALLS = 8;
/** Share of the free places offered with each call beyond those of the reported operations. */
const EXTRA_SHARE = 4;

export function createReporter(deps: ReporterDeps): Reporter {
  const queue = createOutcomeQueue();
  let calls = 0;
  let isScheduled = false;
  let timer: NodeJS.Timeout | undefined;

  const schedule = (): void => {
    if (isScheduled) return;
    isScheduled = true;
    // After this turn of the loop: what ends in the same turn travels together.
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
      // Nothing else can end in this turn.
      if (deps.tasks.size === 1) pump();
      else schedule();
    },
    discard: (task) => {
      // In flight: the engine refuses it and the answer releases the task.
      if (queue.remove(task)) deps.release(task);
    },
  };
}

/** One call; without an answer everything stays in the queue. */
async function tell(deps: ReporterDeps, queue: OutcomeQueue, executionIds: readonly string[]): Promise<void> {
  const batch = queue.take(executionIds);
  // The queue gives one tenant's at a time.
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
