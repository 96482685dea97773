import type { Clock, Log } from '@baton/kernel';
import type { ExecutionsClient } from '../adapters/executions.client';
import { type HeldTask, type HeldTasks, isOwned } from './held-task';

/**
 * Renews all leases of this worker, each third of a lease, in one call. Runs in the main loop, where operations never
 * run for long: scripts are processes and only registered functions run here. Beside it a guard looks at the clock: an
 * operation whose lease cannot be trusted any more is killed and nothing of it is written. After a pause of the whole
 * process (SIGSTOP, suspend) the guard is the first timer that fires.
 */
export interface Heartbeat {
  /** One round: renew, kill what was cancelled, drop what is lost. */
  beat(): Promise<void>;
  /** A round now, or right after the one under way: somebody says that there is something to hear. */
  ask(): void;
  /** Kills operations whose lease may have passed on. */
  guard(): void;
  start(): void;
  stop(): void;
}

export interface HeartbeatDeps {
  executions: Pick<ExecutionsClient, 'heartbeat'>;
  tasks: HeldTasks;
  clock: Clock;
  log: Log;
  /** The engine says that the lease is gone; the outcome of one that has ended is of no use any more. */
  onLost: (task: HeldTask) => void;
  /** Weights of tenants in the share of places, as administrators have set them. */
  onWeights: (weights: Readonly<Record<string, number>>) => void;
}

/** Lease that the engine gives, until the first real one is seen. */
const USUAL_LEASE_MS = 15_000;
const GUARD_MS = 250;
const RETRY_MS = 1_000;

export function createHeartbeat(deps: HeartbeatDeps): Heartbeat {
  let ticking: NodeJS.Timeout | undefined;
  let isBeating = false;
  let isAsked = false;
  /** Monotonic ms. */
  let lastBeat = Number.NEGATIVE_INFINITY;
  let hasFailed = false;

  const beatWhenDue = async (): Promise<void> => {
    const now = deps.clock.monotonic();
    const intervalMs = intervalOf(deps.tasks);
    const waitMs = hasFailed ? Math.min(intervalMs, RETRY_MS) : intervalMs;
    if (isBeating || now - lastBeat < waitMs - GUARD_MS) return;
    await round();
  };
  const round = async (): Promise<void> => {
    isBeating = true;
    lastBeat = deps.clock.monotonic();
    try {
      await renewAll(deps);
      hasFailed = false;
    } catch (error) {
      hasFailed = true;
      deps.log.warn({ tasks: deps.tasks.size, reason: (error as Error).message }, 'heartbeat not answered');
    } finally {
      isBeating = false;
      const isNext = isAsked;
      isAsked = false;
      if (isNext) void round();
    }
  };
  const tick = (): void => {
    killUntrusted(deps);
    void beatWhenDue();
  };

  return {
    beat: () => renewAll(deps),
    ask: () => {
      if (isBeating) isAsked = true;
      else void round();
    },
    guard: () => killUntrusted(deps),
    start: () => {
      ticking = setInterval(tick, GUARD_MS);
      tick();
    },
    stop: () => {
      clearInterval(ticking);
      isAsked = false;
    },
  };
}

/** A third of the shortest lease. */
function intervalOf(tasks: HeldTasks): number {
  let leaseMs = USUAL_LEASE_MS;
  for (const task of tasks.all()) leaseMs = Math.min(leaseMs, task.leaseMs);
  return leaseMs / 3;
}

function killUntrusted({ tasks, clock, log }: HeartbeatDeps): void {
  for (const task of tasks.all()) {
    if (task.phase !== 'running' || task.control.signal.aborted || isOwned(task, clock)) continue;
    log.error({ taskId: task.taskId, attempt: task.attempt }, 'lease could not be renewed; operation killed');
    tasks.stop(task, 'lease-lost');
  }
}

async function renewAll(deps: HeartbeatDeps): Promise<void> {
  const tasks = deps.tasks.all();
  const sentAt = deps.clock.monotonic();
  const answer = await deps.executions.heartbeat(
    tasks.map((task) => task.taskId),
    tasks.map((task) => task.proof).filter((proof) => proof !== ''),
    Math.max(1_000, intervalOf(deps.tasks)),
  );
  deps.onWeights(answer.weights);
  const lost = new Set(answer.lost);
  const kill = new Set(answer.kill);
  for (const task of tasks) {
    // Reported and answered meanwhile: it is rightly not leased any more.
    if (deps.tasks.get(task.taskId) !== task) continue;
    if (lost.has(task.taskId)) {
      deps.log.warn({ taskId: task.taskId, attempt: task.attempt }, 'lease lost');
      deps.tasks.stop(task, 'lease-lost');
      deps.onLost(task);
    } else {
      task.leaseUntil = Math.max(task.leaseUntil, sentAt + task.leaseMs);
      task.proof = answer.proofs[task.taskId] ?? task.proof;
      if (kill.has(task.taskId)) deps.tasks.stop(task, 'cancelled');
    }
  }
}
