import type { Clock, Log } from '@baton/kernel';
import type { InvokeDeps } from '@baton/plugin-runtime';
import type { ExecutionsClient } from './adapters/executions.client';
import { createHeartbeat } from './claim/heartbeat';
import { createHeldTasks, type HeldTask, type HeldTasks, takesPlace } from './claim/held-task';
import { type LeaseDeps, startLeases } from './claim/leases';
import { createSlots, type Sharing } from './claim/slots';
import { createLogShipper, type LogShipper } from './report/logs';
import type { TaskRecords } from './report/records';
import { createReporter, type Reporter } from './report/report';
import type { HostDeps } from './run/operation-host';
import { type RunDeps, runTask } from './run/run-task';

export interface WorkerDeps {
  slots: number;
  /** How tenants share the slots; absent: first come, first served. */
  sharing?: Sharing;
  executions: ExecutionsClient;
  runtime: InvokeDeps;
  handlers?: string | undefined;
  host: Omit<HostDeps, 'logs' | 'clock' | 'log'>;
  clock: Clock;
  log: Log;
  logLimit: number;
  /** Sends log lines in another way than the worker's own. */
  logs?: LogShipper | undefined;
  records?: TaskRecords | undefined;
  /** The longest time between two heartbeats. */
  mostBeatMs?: number | undefined;
}

export interface Worker {
  leaseDeps: LeaseDeps;
  isDraining: () => boolean;
  /** Reports outcomes; also those of operations that ended in an earlier life of this process. */
  reporter: Reporter;
  start(): void;
  /** From now on nothing more is claimed, while running operations go on; false: operations are claimed again. */
  drain(isWanted?: boolean): void;
  /** Soon asks the engine which operations of this worker are cancelled. */
  askForCancels(): void;
  /**
   * Waits up to `limitMs` for running operations to end, then kills and reports them. Heartbeats continue until the last answer.
   */
  stop(limitMs: number): Promise<void>;
}

/** The most workflow codes that run at once: each of their scripts is a process. */
const MAX_CODES = 50;
/** Time after a kill: the grace of scripts, and the time for logs and outcomes to reach the engine. */
const REPORT_LIMIT_MS = 15_000;

/**
 * Returns sharing whose weights can change. A weight set by an administrator has precedence over the configuration of this
 * worker.
 */
function changingWeights(
  configured?: Sharing,
): Sharing & { setWeights(given: Readonly<Record<string, number>>): void } {
  let weights: Readonly<Record<string, number>> = {};
  return {
    reserve: configured?.reserve ?? 0,
    weightOf: (tenant) => weights[tenant] ?? configured?.weightOf(tenant) ?? 1,
    setWeights: (given) => {
      weights = given;
    },
  };
}

/** Connects the parts of the worker; all share the held tasks and the slots. */
export function createWorker(deps: WorkerDeps): Worker {
  const { clock, log, executions, records } = deps;
  const tasks = createHeldTasks(records?.forget);
  const sharing = changingWeights(deps.sharing);
  const slots = createSlots(deps.slots, sharing);
  let isDraining = false;
  const release = (task: HeldTask): void => {
    tasks.remove(task);
    if (takesPlace(task)) slots.give(1, task.assignment.tenant);
  };
  const logs = deps.logs ?? createLogShipper({ executions, clock, log, limit: deps.logLimit });
  const leaseDeps: LeaseDeps = { tasks, slots, clock, log, run: (task) => void runTask(runDeps, task) };
  const reporter = createReporter({
    executions,
    tasks,
    slots,
    clock,
    log,
    release,
    isDraining: () => isDraining,
    startLeases: (leases, taken, sentAt) => startLeases(leaseDeps, leases, taken, sentAt),
  });
  const runDeps: RunDeps = {
    host: { ...deps.host, logs, clock, log },
    runtime: deps.runtime,
    handlers: deps.handlers,
    executions,
    codeSlots: createSlots(MAX_CODES),
    logs,
    reporter,
    records,
    clock,
    log,
    release,
  };
  const heartbeat = createHeartbeat({
    executions,
    tasks,
    clock,
    log,
    onLost: (task) => reporter.discard(task),
    onWeights: sharing.setWeights,
    mostIntervalMs: deps.mostBeatMs,
  });
  return {
    leaseDeps,
    reporter,
    isDraining: () => isDraining,
    drain: (isWanted = true) => {
      isDraining = isWanted;
    },
    start: () => heartbeat.start(),
    askForCancels: () => heartbeat.ask(),
    stop: async (limitMs) => {
      isDraining = true;
      await endAll(tasks, log, limitMs);
      heartbeat.stop();
    },
  };
}

/** Waits for the ends of all operations, then kills those that run and waits for their reports. */
async function endAll(tasks: HeldTasks, log: Log, limitMs: number): Promise<void> {
  if (await tasks.emptied(limitMs)) return;
  log.warn({ tasks: tasks.size }, 'operations did not end in time; killed');
  for (const task of tasks.all()) tasks.stop(task, 'stopping');
  if (await tasks.emptied(REPORT_LIMIT_MS)) return;
  log.error({ tasks: tasks.size }, 'outcomes left behind; their leases run out');
}
