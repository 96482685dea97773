import type { Clock, Log } from '@baton/kernel';
import type { ExecutionsClient } from '../adapters/executions.client';
import { type HeldTask, type HeldTasks, isOwned } from './held-task';

/**
 * Renews all leases of this worker, each third of a lease, in one call. Runs in the main loop, where operations never run for
 * long: scripts are processes, and only registered functions run here. In addition, a guard checks the clock: it kills an
 * operation whose lease is not certain any more, and none of its results are written. After a pause of the whole process
 * (SIGSTOP, suspend), the guard is the first timer that fires.
 */
export interface Heartbeat {
  /** Does one round: renews leases, kills cancelled operations, drops lost ones. */
  beat(): Promise<void>;
  /** Starts a round now, or right after the running one: the engine has sent a message that it has news. */
  ask(): void;
  /** Kills operations whose lease may have passed to another worker. */
  guard(): void;
  start(): void;
  stop(): void;
}

export interface HeartbeatDeps {
  executions: Pick<ExecutionsClient, 'heartbeat'>;
  tasks: HeldTasks;
  clock: Clock;
  log: Log;
  /** Called when the engine says that the lease is lost; the outcome of an ended operation is then useless. */
  onLost: (task: HeldTask) => void;
  /** Called with the weights of tenants in the share of slots that administrators have set. */
  onWeights: (weights: Readonly<Record<string, number>>) => void;
  /** The longest time between two rounds, where leases are long; absent: a third of a lease. */
  mostIntervalMs?: number | undefined;
}

/** Assumed lease duration until the first real lease is known. */
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
    const intervalMs = intervalOf(deps);
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

/** Returns a third of the shortest lease, or less. */
function intervalOf({ tasks, mostIntervalMs = Number.POSITIVE_INFINITY }: HeartbeatDeps): number {
  let leaseMs = USUAL_LEASE_MS;
  for (const task of tasks.all()) leaseMs = Math.min(leaseMs, task.leaseMs);
  return Math.min(leaseMs / 3, mostIntervalMs);
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
    Math.max(1_000, intervalOf(deps)),
  );
  deps.onWeights(answer.weights);
  const lost = new Set(answer.lost);
  const kill = new Set(answer.kill);
  for (const task of tasks) {
    // Reported and answered meanwhile: the task rightly has no lease any more.
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
