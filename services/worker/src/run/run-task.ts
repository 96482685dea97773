import { type Clock, isoInstant, type Log } from '@baton/kernel';
import {
  endOfThrown,
  type InvokeDeps,
  invoke,
  invokeWorkflow,
  type OperationEnd,
  type OperationHost,
  type OperationTask,
} from '@baton/plugin-runtime';
import type { ExecutionsClient } from '../adapters/executions.client';
import { type HeldTask, isOwned } from '../claim/held-task';
import type { Slots } from '../claim/slots';
import { isFunctionOf, runCodeThread } from '../code/code-thread';
import { workPort } from '../code/work-port';
import type { LogShipper } from '../report/logs';
import type { TaskRecords } from '../report/records';
import type { Reporter } from '../report/report';
import { createMasks } from './masks';
import { type HostDeps, operationHost, type TaskHost } from './operation-host';
import { outcomeOf } from './outcome';

/** How long workflow code waits for a code slot. Then it starts nevertheless, because the code in the slots may wait for it. */
const CODE_LINE_MS = 30_000;

async function runCode(
  deps: RunDeps,
  task: HeldTask,
  operation: OperationTask,
  host: OperationHost,
): Promise<OperationEnd> {
  const { signal } = task.control;
  const isTaken = await deps.codeSlots.take(AbortSignal.any([signal, AbortSignal.timeout(CODE_LINE_MS)]));
  try {
    const port = workPort(deps.executions, task);
    const { handlers } = deps;
    if (handlers !== undefined && isFunctionOf(operation, deps.runtime.workflows))
      return await runCodeThread({ task: operation, handlers }, host, port, signal);
    return await invokeWorkflow(operation, host, port, deps.runtime, signal);
  } finally {
    if (isTaken) deps.codeSlots.give(1);
  }
}

/**
 * Stores the changed files of the working folder. A success whose files could not be stored becomes a failure; a failure stays as
 * it is.
 */
async function settleFolder(
  deps: RunDeps,
  task: HeldTask,
  host: TaskHost,
  end: OperationEnd,
): Promise<OperationEnd> {
  try {
    await host.settle();
    return end;
  } catch (error) {
    deps.log.warn(
      { taskId: task.taskId, reason: (error as Error).message },
      'files of the working folder were not stored',
    );
    return end.kind === 'succeeded' || end.kind === 'deferred' ? endOfThrown(error) : end;
  }
}

export interface RunDeps {
  host: HostDeps;
  runtime: InvokeDeps;
  /** Path of the module with the plugins of this worker: their workflows run in threads that load it. */
  handlers?: string | undefined;
  executions: ExecutionsClient;
  codeSlots: Slots;
  logs: LogShipper;
  reporter: Reporter;
  /** Absent: nothing of the operations outlives this process. */
  records?: TaskRecords | undefined;
  clock: Clock;
  log: Log;
  /** Releases the slot of a task and removes the task. */
  release: (task: HeldTask) => void;
}

/**
 * Runs a leased operation and passes its outcome to the reporter, after its log lines are stored. When the lease is not certain
 * any more, nothing is written: the engine gives the operation to another worker.
 */
export async function runTask(deps: RunDeps, task: HeldTask): Promise<void> {
  const refusal = await deps.records?.begin(task);
  if (refusal) {
    const outcome = outcomeOf(task, refusal, isoInstant(deps.clock.now()), (text) => text);
    task.phase = 'reporting';
    await deps.records?.ended(task, outcome);
    deps.reporter.add(task, outcome);
    return;
  }
  const masks = createMasks();
  masks.add(task.assignment.executionToken);
  const operation = { ...task.assignment, taskId: task.taskId, attempt: task.attempt };
  const host = operationHost(deps.host, task, masks);
  const run = task.assignment.isWorkflowCode
    ? runCode(deps, task, operation, host)
    : invoke(operation, host, deps.runtime, task.control.signal);
  const ended = await run.catch((thrown: unknown) => {
    deps.log.error({ taskId: task.taskId, err: thrown }, 'operation runtime failed');
    return endOfThrown(thrown);
  });
  // Before the outcome is reported: the next operation may run on another machine and must find the files.
  const end = isOwned(task, deps.clock) ? await settleFolder(deps, task, host, ended) : ended;
  if (!isOwned(task, deps.clock)) {
    deps.logs.drop(task.taskId, task.executionId);
    deps.release(task);
    deps.log.warn(
      { taskId: task.taskId, attempt: task.attempt },
      'operation ended without its lease; nothing is reported',
    );
    return;
  }
  const outcome = outcomeOf(task, end, isoInstant(deps.clock.now()), masks.hide);
  // The end is decided: from now on the lease must last only until the answer.
  task.phase = 'reporting';
  // Neither needs the other: a crash between them costs at most the outcome, as a crash before both.
  const recorded = deps.records?.ended(task, outcome);
  const flushed = deps.logs.flush(task.executionId);
  if (recorded) await recorded;
  if (flushed) await flushed;
  deps.reporter.add(task, outcome);
}
