import type { executionsRpc } from '@baton/contracts';
import { backoffMs, type Clock, type Log } from '@baton/kernel';
import type { ExecutionsClient } from './adapters/executions.client';
import type { HeldTask, HeldTasks } from './held-task';
import type { Slots } from './slots';

/**
 * Tells the engine what has ended, until it answers. Outcomes that pile up while a call is under way travel together in
 * the next one; calls about different executions run beside each other (the engine commits once per execution), those
 * about one execution one after the other. The places of the reported operations, and some more, are offered as room
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
  startLeases: (leases: readonly executionsRpc.TaskLease[], places: number, sentAt: number) => void;
  /** Gives the place of a task back and forgets it. */
  release: (task: HeldTask) => void;
  isDraining: () => boolean;
}

const MAX_CALLS = 8;
const MAX_OUTCOMES = 256;
/** Share of the free places offered with each call beyond those of the reported operations. */
const EXTRA_SHARE = 4;
const RETRY = { firstMs: 100, maxMs: 3_000, factor: 2, jitter: 0.3 };

interface Item {
  task: HeldTask;
  outcome: executionsRpc.TaskOutcome;
}
interface Pending {
  items: Item[];
  isInFlight: boolean;
  failures: number;
  /** Monotonic ms before which it is not sent again. */
  notBefore: number;
}

export function createReporter(deps: ReporterDeps): Reporter {
  const pending = new Map<string, Pending>();
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
    const waiting = [...pending].filter(([, p]) => !p.isInFlight && p.items.length > 0);
    const due = waiting.filter(([, p]) => p.notBefore <= now);
    const fresh = due.filter(([, p]) => p.failures === 0);
    // What failed before is sent alone, so that one execution cannot hold up the others.
    for (const [id] of due.filter(([, p]) => p.failures > 0)) if (calls < MAX_CALLS) void send([id]);
    while (fresh.length > 0 && calls < MAX_CALLS) {
      const share = Math.ceil(fresh.length / (MAX_CALLS - calls));
      void send(fresh.splice(0, share).map(([id]) => id));
    }
    const later = waiting.filter(([, p]) => p.notBefore > now).map(([, p]) => p.notBefore);
    clearTimeout(timer);
    if (later.length > 0) timer = setTimeout(pump, Math.min(...later) - now);
  };

  const send = async (executionIds: readonly string[]): Promise<void> => {
    calls++;
    const batch: Item[] = [];
    for (const id of executionIds) {
      const p = pending.get(id) as Pending;
      p.isInFlight = true;
      batch.push(...p.items.slice(0, Math.max(1, MAX_OUTCOMES - batch.length)));
    }
    const extra = deps.isDraining() ? 0 : deps.slots.takeSome(Math.floor(deps.slots.free / EXTRA_SHARE));
    const room = deps.isDraining() ? 0 : batch.length + extra;
    const sentAt = deps.clock.monotonic();
    try {
      const answer = await deps.executions.finish(
        batch.map((item) => item.outcome),
        room,
      );
      settle(executionIds, new Set(batch), null);
      answered(batch, answer, extra, sentAt);
    } catch (error) {
      deps.slots.give(extra);
      settle(executionIds, null, error as Error);
    } finally {
      calls--;
      schedule();
    }
  };

  const answered = (
    batch: Item[],
    answer: executionsRpc.FinishTasksResponse,
    extra: number,
    sentAt: number,
  ): void => {
    for (const taskId of answer.refused) {
      deps.log.warn(
        { taskId, attempt: deps.tasks.get(taskId)?.attempt },
        'outcome refused: the attempt is not the current one',
      );
    }
    let places = extra;
    for (const { task } of batch) {
      deps.tasks.remove(task);
      places++;
    }
    deps.startLeases(answer.leases, places, sentAt);
  };

  const settle = (
    executionIds: readonly string[],
    sent: ReadonlySet<Item> | null,
    error: Error | null,
  ): void => {
    for (const id of executionIds) {
      const p = pending.get(id) as Pending;
      p.isInFlight = false;
      if (sent) p.items = p.items.filter((item) => !sent.has(item));
      p.failures = error ? p.failures + 1 : 0;
      p.notBefore = error ? deps.clock.monotonic() + backoffMs(p.failures, RETRY) : 0;
      if (p.items.length === 0) pending.delete(id);
    }
    if (error) deps.log.warn({ executionIds, reason: error.message }, 'outcomes not answered; sent again');
  };

  return {
    add: (task, outcome) => {
      task.phase = 'reporting';
      const p = pending.get(task.executionId);
      if (p) p.items.push({ task, outcome });
      else
        pending.set(task.executionId, {
          items: [{ task, outcome }],
          isInFlight: false,
          failures: 0,
          notBefore: 0,
        });
      schedule();
    },
    discard: (task) => {
      const p = pending.get(task.executionId);
      // In flight: the engine refuses it and the answer releases the task.
      if (!p || p.isInFlight || !p.items.some((item) => item.task === task)) return;
      p.items = p.items.filter((item) => item.task !== task);
      if (p.items.length === 0) pending.delete(task.executionId);
      deps.release(task);
    },
  };
}
