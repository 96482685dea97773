import { type Clock, isoInstant, type Log } from '@baton/kernel';
import { endOfThrown, type InvokeDeps, invoke } from '@baton/plugin-runtime';
import { type HeldTask, isOwned } from './held-task';
import type { LogShipper } from './logs';
import { createMasks } from './masks';
import { type HostDeps, operationHost } from './operation-host';
import { outcomeOf } from './outcome';
import type { Reporter } from './report';

export interface RunDeps {
  host: HostDeps;
  runtime: InvokeDeps;
  logs: LogShipper;
  reporter: Reporter;
  clock: Clock;
  log: Log;
  /** Gives its place back and never runs this attempt again. */
  abandon: (task: HeldTask) => void;
}

/**
 * Runs a leased operation and hands its outcome to the reporter, after its log lines are stored. When the lease is not
 * certain any more nothing is written: the engine gives the operation to another worker.
 */
export async function runTask(deps: RunDeps, task: HeldTask): Promise<void> {
  const masks = createMasks();
  const operation = { ...task.assignment, taskId: task.taskId, attempt: task.attempt };
  const end = await invoke(
    operation,
    operationHost(deps.host, task, masks),
    deps.runtime,
    task.control.signal,
  ).catch((thrown: unknown) => {
    deps.log.error({ taskId: task.taskId, err: thrown }, 'operation runtime failed');
    return endOfThrown(thrown);
  });
  if (!isOwned(task, deps.clock)) {
    deps.logs.drop(task.taskId, task.executionId);
    deps.abandon(task);
    deps.log.warn(
      { taskId: task.taskId, attempt: task.attempt },
      'operation ended without its lease; nothing is reported',
    );
    return;
  }
  const outcome = outcomeOf(task, end, isoInstant(deps.clock.now()), masks.hide);
  // The end is decided: from here the lease only has to live until the answer.
  task.phase = 'reporting';
  const flushed = deps.logs.flush(task.executionId);
  if (flushed) await flushed;
  deps.reporter.add(task, outcome);
}
