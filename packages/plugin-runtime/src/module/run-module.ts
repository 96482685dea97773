import { FatalError, RetryableError } from '@baton/plugin-sdk';
import type { OperationSession } from '../context/session';
import { type OperationEnd, stopReason } from '../operation-end';
import { cannotResume, unknownMapping } from '../registry';
import type { OperationTask } from '../task';
import type { ModulePlugin } from './module-plugin';
import type { ModuleProcesses } from './module-pool';
import type { Lost } from './module-process';

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

async function runOnce(
  session: OperationSession,
  processes: ModuleProcesses,
  plugin: ModulePlugin,
  isResumed: boolean,
): Promise<OperationEnd | (Lost & { isResumable: boolean })> {
  const { tenant, mapping, plugin: declared } = session.task;
  const process = await processes.of(tenant, plugin);
  try {
    const loaded = await untilAborted(process.loaded, session.signal);
    if (loaded === 'aborted') return { kind: 'stopped', reason: stopReason(session.signal) };
    const isResumable = loaded.operations.get(mapping);
    if (isResumable === undefined)
      throw unknownMapping(mapping, declared.name, [...loaded.operations.keys()]);
    if (isResumed && !isResumable) throw cannotResume(mapping);
    const end = await process.run(
      taskFor(session.task, plugin, isResumed),
      session,
      plugin.secrets ?? loaded.secrets,
    );
    return end.kind === 'lost' ? { ...end, isResumable } : end;
  } finally {
    processes.settle(process);
  }
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
