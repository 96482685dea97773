import { AppError, beginningOf, type Clock, isAppError, type Log } from '@baton/kernel';
import type { OperationHost } from '@baton/plugin-runtime';
import { withLease } from '@baton/rpc';
import type { DeploymentsClient } from '../adapters/deployments.client';
import type { SafeFetch } from '../adapters/safe-fetch';
import { type HeldTask, isOwned } from '../claim/held-task';
import type { PythonPlugins } from '../code/python-plugins';
import { type BlueprintFiles, insidePath } from '../files/blueprint-files';
import type { OperationFolders } from '../files/operation-folder';
import type { LogShipper } from '../report/logs';
import type { Masks } from './masks';

/** Characters of one line or event: more could not be told in one call, and is read by nobody. */
const MAX_MESSAGE = 64 * 1024;

export interface HostDeps {
  deployments: DeploymentsClient;
  files: BlueprintFiles;
  fetchUrl: SafeFetch;
  logs: LogShipper;
  clock: Clock;
  log: Log;
  folders: OperationFolders;
  plugins: PythonPlugins;
}

/** With what belongs to the end of the operation. */
export interface TaskHost extends OperationHost {
  /** Stores what the operation has left in the working folder of its deployment. @throws FatalError, AppError */
  settle(): Promise<void>;
}

/** What a running operation may ask for; every write makes sure first that the lease still holds. */
export function operationHost(deps: HostDeps, task: HeldTask, masks: Masks): TaskHost {
  const { assignment } = task;
  const { tenant, blueprintId } = assignment;
  // Lines of workflow code are those of the execution.
  const logger = `ctx.${assignment.isWorkflowCode ? task.executionId : task.taskId}`;
  const line = { logger, taskId: task.taskId, executionId: task.executionId, signal: task.control.signal };
  const folder = deps.folders.of(assignment.tenant, assignment.deploymentId, () => isOwned(task, deps.clock));
  const host: TaskHost = {
    open: async () => {
      const { secrets, ...model } = await deps.deployments.open(assignment);
      // What the inputs got from get_secret is hidden in everything that the operation says.
      masks.add(secrets);
      return model;
    },
    saveRuntimeProperties: (write) => {
      if (!isOwned(task, deps.clock))
        throw new AppError('stale_attempt_error', 'the lease of the operation has run out');
      return deps.deployments.saveRuntimeProperties(assignment, {
        ...write,
        taskId: task.taskId,
        attempt: task.attempt,
      });
    },
    readDeployment: () => deps.deployments.readModel(assignment.tenant, assignment.deploymentId),
    readResource: (path) =>
      firstOf(path, {
        own: folder.locate,
        blueprint: () => deps.files.locate(tenant, blueprintId, path),
        shared: (inside) => deps.folders.locateShared(tenant, inside),
      }),
    listResources: (path) =>
      firstOf(path, {
        own: folder.list,
        blueprint: () => deps.files.list(tenant, blueprintId, path),
        shared: (inside) => deps.folders.listShared(tenant, inside),
      }),
    emit: (kind, level, message) => {
      if (task.control.signal.reason === 'lease-lost') return;
      return deps.logs.add(line, kind, level, beginningOf(masks.hide(message), MAX_MESSAGE));
    },
    cutText: masks.cut,
    fetchUrl: deps.fetchUrl,
    pythonPlugin: (name) => deps.plugins.of(tenant, blueprintId, name, task.control.signal),
    deploymentPlace: () => folder.place(),
    deploymentDir: () => folder.open(),
    settle: () => folder.settle(),
  };
  return underLease(task, host);
}

/** What is asked of other services on the way shows the lease as it is at that moment. */
function underLease(task: HeldTask, host: TaskHost): TaskHost {
  const methods = Object.entries(host).map(([name, method]) => [
    name,
    (...given: unknown[]) => withLease(task, () => (method as (...given: unknown[]) => unknown)(...given)),
  ]);
  return Object.fromEntries(methods) as TaskHost;
}

/** Where a resource may lie; null: it is not there. */
interface Places<T> {
  own(path: string): Promise<T | null>;
  /** @throws AppError not_found_error */
  blueprint(): Promise<T>;
  shared(path: string): Promise<T | null>;
}

/**
 * What an operation of the deployment has put into its folder wins over the blueprint, and that over the files of the
 * tenant and of everybody (reference/workflows.md 4.2). @throws AppError not_found_error
 */
async function firstOf<T>(path: string, { own, blueprint, shared }: Places<T>): Promise<T> {
  const inside = insidePath(path);
  const found = inside === null ? null : await own(inside);
  if (found !== null) return found;
  try {
    return await blueprint();
  } catch (error) {
    const other = inside !== null && isAppError(error, 'not_found_error') ? await shared(inside) : null;
    if (other === null) throw error;
    return other;
  }
}
