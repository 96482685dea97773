import { FatalError, RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { endOfThrown, type OperationEnd, stopReason } from '../operation-end';
import { cannotResume, unknownMapping, unknownWorkflow } from '../registry';
import type { OperationTask } from '../task';
import type { WorkPort } from '../workflow/work';
import type { ModulePlugin } from './module-plugin';
import type { ModuleProcesses } from './module-pool';
import type { Lost } from './module-process';
import type { LoadedModule } from './read-hello';

/**
 * Runs an operation of a TypeScript plugin in the plugin's process. When the process is lost, a resumable operation runs once more
 * in a fresh one, with `ctx.isResumed`; another one fails, because it may have had its effect.
 * @throws FatalError, RetryableError
 */
export async function runModule(
  session: OperationSession,
  processes: ModuleProcesses | undefined,
  plugin: ModulePlugin,
): Promise<OperationEnd> {
  if (!processes) throw new FatalError('this worker runs no TypeScript plugins');
  const { mapping } = session.task;
  const first = await runOnce(session, processes, plugin, session.task.isResumed);
  if (first.kind !== 'lost') return first;
  if (session.signal.aborted) return { kind: 'stopped', reason: stopReason(session.signal) };
  if (!first.isResumable) throw cannotResume(mapping, first.why);
  const again = await runOnce(session, processes, plugin, true);
  if (again.kind !== 'lost') return again;
  throw new RetryableError(`operation ${mapping} was lost twice: ${again.why}`);
}

/**
 * Runs the code of a workflow in the process that the plugin has for workflows. When the process is lost, resumable code begins
 * again in a fresh one; other code fails, as after the loss of its worker (ADR 0013).
 * @throws FatalError
 */
export async function runModuleWorkflow(
  session: OperationSession,
  processes: ModuleProcesses | undefined,
  plugin: ModulePlugin,
  port: WorkPort,
): Promise<OperationEnd> {
  if (!processes) throw new FatalError('this worker runs no TypeScript plugins');
  const first = await runOnce(session, processes, plugin, session.task.isResumed, port);
  if (first.kind !== 'lost') return ofCode(first);
  if (session.signal.aborted) return { kind: 'stopped', reason: stopReason(session.signal) };
  if (!first.isResumable)
    throw new FatalError(
      `The process that ran the code of this workflow was lost. The workflow is not resumable, so its code is not run again (${first.why})`,
    );
  const again = await runOnce(session, processes, plugin, true, port);
  if (again.kind !== 'lost') return ofCode(again);
  if (session.signal.aborted) return { kind: 'stopped', reason: stopReason(session.signal) };
  throw new FatalError(`the code of the workflow was lost twice: ${again.why}`);
}

/** Code has no place that it could give back: whatever the process says, it has ended. */
const ofCode = (end: OperationEnd): OperationEnd =>
  end.kind === 'deferred' ? endOfThrown(new FatalError('A workflow cannot be deferred')) : end;

/** `port`: the engine, for the code of a workflow; null for an operation. */
async function runOnce(
  session: OperationSession,
  processes: ModuleProcesses,
  plugin: ModulePlugin,
  isResumed: boolean,
  port: WorkPort | null = null,
): Promise<OperationEnd | (Lost & { isResumable: boolean })> {
  const process = await processes.of(session.task.tenant, plugin, port ? 'workflows' : 'operations');
  try {
    const loaded = await untilAborted(process.loaded, session.signal);
    if (loaded === 'aborted') return { kind: 'stopped', reason: stopReason(session.signal) };
    const isResumable = port ? markOfWorkflow(loaded, session.task) : markOfOperation(loaded, session.task);
    // The engine runs code again only when that has declared itself resumable.
    if (isResumed && !isResumable && !port) throw cannotResume(session.task.mapping);
    const end = await process.run(taskFor(session.task, plugin, isResumed), session, {
      secrets: plugin.secrets ?? loaded.secrets,
      port,
    });
    return end.kind === 'lost' ? { ...end, isResumable } : end;
  } finally {
    processes.settle(process);
  }
}

/** Whether the operation is resumable. @throws FatalError when there is none */
function markOfOperation({ operations }: LoadedModule, { mapping, plugin }: OperationTask): boolean {
  const mark = operations.get(mapping);
  if (mark === undefined) throw unknownMapping(mapping, plugin.name, [...operations.keys()]);
  return mark;
}

/** Whether the code of the workflow is resumable. @throws FatalError when there is none */
function markOfWorkflow({ workflows }: LoadedModule, { mapping, plugin }: OperationTask): boolean {
  const mark = workflows.get(mapping);
  if (mark === undefined) throw unknownWorkflow(mapping, plugin.name, workflows.keys());
  return mark;
}

/** The task as the process gets it. Its time limit is kept here. */
const taskFor = (task: OperationTask, { properties }: ModulePlugin, isResumed: boolean): OperationTask => ({
  ...task,
  isResumed,
  plugin: { ...task.plugin, properties },
});

/** Nobody waits for the code of a plugin on behalf of an operation that was told to stop. */
function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | 'aborted'> {
  if (signal.aborted) return Promise.resolve('aborted');
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve('aborted');
    signal.addEventListener('abort', onAbort, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort));
  });
}
