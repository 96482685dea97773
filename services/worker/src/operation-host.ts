import { normalize } from 'node:path';
import { AppError, type Clock, isAppError, type Log } from '@baton/kernel';
import type { OperationHost } from '@baton/plugin-runtime';
import type { DeploymentsClient } from './adapters/deployments.client';
import type { SafeFetch } from './adapters/safe-fetch';
import type { SecretsClient } from './adapters/secrets.client';
import type { BlueprintFiles } from './blueprint-files';
import { type HeldTask, isOwned } from './held-task';
import type { LogShipper } from './logs';
import { type Masks, secretsIn } from './masks';
import type { OperationFolder, OperationFolders } from './operation-folder';

export interface HostDeps {
  deployments: DeploymentsClient;
  secrets: SecretsClient;
  files: BlueprintFiles;
  fetchUrl: SafeFetch;
  logs: LogShipper;
  clock: Clock;
  log: Log;
  folders: OperationFolders;
}

/** With what belongs to the end of the operation. */
export interface TaskHost extends OperationHost {
  /** Stores what the operation has left in the working folder of its deployment. @throws FatalError, AppError */
  settle(): Promise<void>;
}

/** What a running operation may ask for; every write makes sure first that the lease still holds. */
export function operationHost(deps: HostDeps, task: HeldTask, masks: Masks): TaskHost {
  const { assignment } = task;
  // Lines of workflow code are those of the execution.
  const logger = `ctx.${assignment.isWorkflowCode ? task.executionId : task.taskId}`;
  const line = { logger, taskId: task.taskId, executionId: task.executionId, signal: task.control.signal };
  const folder = deps.folders.of(assignment.tenant, assignment.deploymentId, () => isOwned(task, deps.clock));
  return {
    open: async () => {
      const model = await deps.deployments.open(assignment);
      if (assignment.hasFunctions) await learnSecrets(deps, task, model.inputs, masks);
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
    readResource: (path) => readResource(deps, task, folder, path),
    emit: (kind, level, message) => {
      if (task.control.signal.reason === 'lease-lost') return;
      return deps.logs.add(line, kind, level, masks.hide(message));
    },
    fetchUrl: deps.fetchUrl,
    deploymentDir: () => folder.open(),
    settle: () => folder.settle(),
  };
}

/**
 * What an operation of the deployment has put into its folder wins over the blueprint, and that over the files of the
 * tenant and of everybody (reference/workflows.md 4.2). @throws AppError not_found_error
 */
async function readResource(
  { files, folders }: HostDeps,
  { assignment: { tenant, blueprintId } }: HeldTask,
  folder: OperationFolder,
  path: string,
): Promise<string> {
  const clean = normalize(path);
  const isInside = !clean.startsWith('..') && !clean.startsWith('/') && !clean.includes('\0');
  const own = isInside ? await folder.locate(clean) : null;
  if (own !== null) return own;
  try {
    return await files.locate(tenant, blueprintId, path);
  } catch (error) {
    const shared =
      isInside && isAppError(error, 'not_found_error') ? await folders.locateShared(tenant, clean) : null;
    if (shared === null) throw error;
    return shared;
  }
}

/** What the inputs got from get_secret is hidden in everything that the operation says. */
async function learnSecrets(deps: HostDeps, task: HeldTask, inputs: unknown, masks: Masks): Promise<void> {
  const { keys, values } = secretsIn(task.assignment.inputs, inputs);
  masks.add(values);
  if (keys.length === 0) return;
  try {
    masks.add(await deps.secrets.values(task.assignment, keys));
  } catch (error) {
    // Whole values are known already; only secrets inside longer texts stay unknown.
    deps.log.warn(
      { taskId: task.taskId, reason: (error as Error).message },
      'secrets to hide could not be read',
    );
  }
}
