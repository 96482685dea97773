import type { OperationAssignment } from '@baton/contracts';
import type { Clock } from '@baton/kernel';
import type { StopReason } from '@baton/plugin-runtime';

/**
 * A leased operation in this worker. Running: `control` can stop it. Reporting: it has ended and its outcome waits for
 * an answer. The lease is judged by the monotonic clock from the moment the call that granted it was SENT, so this
 * worker always believes in a shorter lease than the engine does, also after it was paused.
 */
export interface HeldTask {
  readonly taskId: string;
  readonly executionId: string;
  readonly attempt: number;
  readonly leaseMs: number;
  readonly assignment: OperationAssignment;
  readonly control: AbortController;
  /** ISO instant. */
  readonly startedAt: string;
  /** Monotonic ms. */
  leaseUntil: number;
  phase: 'running' | 'reporting';
}

/** Share of a lease that is kept as a margin: an operation is killed this long before the lease may pass to another worker. */
const MARGIN_SHARE = 0.2;

/** Workflow code waits for operations, so it must not stand in the place that they need. */
export function takesPlace({ assignment }: Pick<HeldTask, 'assignment'>): boolean {
  return assignment.isWorkflowCode !== true;
}

export function isOwned(task: HeldTask, clock: Clock): boolean {
  return (
    task.leaseUntil - clock.monotonic() > task.leaseMs * MARGIN_SHARE &&
    task.control.signal.reason !== 'lease-lost'
  );
}

export interface HeldTasks {
  readonly size: number;
  get(taskId: string): HeldTask | undefined;
  all(): HeldTask[];
  add(task: HeldTask): void;
  /** True when it was this very attempt that was held. */
  remove(task: HeldTask): boolean;
  /** Forgets a run that nothing will be told of. The engine may still count it as ours; it must not run here again. */
  abandon(task: HeldTask): void;
  /** Whether this very attempt has run here to an end that the engine does not know. */
  wasAbandoned(taskId: string, attempt: number): boolean;
  /** Stops the running operation; does nothing for one that has ended. */
  stop(task: HeldTask, reason: StopReason): void;
  /** Resolves when none is held, or after `limitMs`. */
  emptied(limitMs: number): Promise<boolean>;
}

/** Abandoned attempts are asked for within a lease or never; this many are many more than that. */
const MAX_ABANDONED = 10_000;

export function createHeldTasks(): HeldTasks {
  const tasks = new Map<string, HeldTask>();
  /** Highest abandoned attempt by task, oldest first. */
  const abandoned = new Map<string, number>();
  let waiting: (() => void)[] = [];
  const remove = (task: HeldTask): boolean => {
    if (tasks.get(task.taskId) !== task) return false;
    tasks.delete(task.taskId);
    if (tasks.size === 0) {
      for (const resolve of waiting) resolve();
      waiting = [];
    }
    return true;
  };
  return {
    get size() {
      return tasks.size;
    },
    get: (taskId) => tasks.get(taskId),
    all: () => [...tasks.values()],
    add: (task) => void tasks.set(task.taskId, task),
    remove,
    abandon: (task) => {
      remove(task);
      abandoned.delete(task.taskId);
      abandoned.set(task.taskId, task.attempt);
      if (abandoned.size > MAX_ABANDONED) abandoned.delete(abandoned.keys().next().value!);
    },
    wasAbandoned: (taskId, attempt) => (abandoned.get(taskId) ?? 0) >= attempt,
    stop: (task, reason) => {
      if (task.phase === 'running' && !task.control.signal.aborted) task.control.abort(reason);
    },
    emptied: (limitMs) => {
      if (tasks.size === 0) return Promise.resolve(true);
      return new Promise((resolve) => {
        const timer = setTimeout(() => resolve(false), limitMs);
        waiting.push(() => {
          clearTimeout(timer);
          resolve(true);
        });
      });
    },
  };
}
