import type { OperationAssignment } from '@baton/contracts';
import type { Clock } from '@baton/kernel';
import type { StopReason } from '@baton/plugin-runtime';

/**
 * A leased operation in this worker. Running: `control` can stop it. Reporting: it has ended, and its outcome waits for an
 * answer. The lease counts by the monotonic clock from the moment when the call that granted it was SENT. So this worker always
 * assumes a shorter lease than the engine does, also after the process was paused.
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
  /** Proves to other services that this worker holds the lease; renewed by heartbeats. */
  proof: string;
  phase: 'running' | 'reporting';
  /** Ended in an earlier life of this process; only its outcome is reported, and it has no slot. */
  readonly isRestored?: boolean;
}

/** Share of a lease that serves as a margin: an operation is killed this long before the lease may pass to another worker. */
const MARGIN_SHARE = 0.2;

/** Returns whether a task occupies a slot. Workflow code does not: it waits for operations, which need the slots. */
export function takesPlace({ assignment, isRestored }: Pick<HeldTask, 'assignment' | 'isRestored'>): boolean {
  return assignment.isWorkflowCode !== true && !isRestored;
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
  /** Removes a task whose run is over, whether or not the engine knows its outcome. True when this very attempt was held. */
  remove(task: HeldTask): boolean;
  /**
   * Returns whether this attempt has run here to its end. The engine answers a repeated request with the same lease, and such an
   * answer may arrive after the run: each attempt must run only once.
   */
  hasRun(taskId: string, attempt: number): boolean;
  /** Stops the running operation; does nothing for an ended one. */
  stop(task: HeldTask, reason: StopReason): void;
  /** Resolves when no task is held, or after `limitMs`. */
  emptied(limitMs: number): Promise<boolean>;
}

/**
 * Limit of remembered attempts. A lease that has run arrives again within one lease (15 s) or never, and a worker ends about a
 * thousand operations a second.
 */
const MAX_ENDED = 20_000;

/** `onRemoved` is called with each task whose run is over and whose outcome needs no report any more. */
export function createHeldTasks(onRemoved?: (task: HeldTask) => void): HeldTasks {
  const tasks = new Map<string, HeldTask>();
  /** For each task the last attempt that ran here to its end, oldest first. */
  const ended = new Map<string, number>();
  let waiting: (() => void)[] = [];
  const noteEnd = ({ taskId, attempt }: HeldTask): void => {
    const last = Math.max(attempt, ended.get(taskId) ?? 0);
    ended.delete(taskId);
    ended.set(taskId, last);
    if (ended.size > MAX_ENDED) ended.delete(ended.keys().next().value!);
  };
  const remove = (task: HeldTask): boolean => {
    noteEnd(task);
    if (tasks.get(task.taskId) !== task) return false;
    tasks.delete(task.taskId);
    onRemoved?.(task);
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
    hasRun: (taskId, attempt) => (ended.get(taskId) ?? 0) >= attempt,
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
