import { mkdir, stat } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { AppError, type Clock, type Log } from '@baton/kernel';
import type { OperationHost } from '@baton/plugin-runtime';
import type { DeploymentsClient } from './adapters/deployments.client';
import type { SafeFetch } from './adapters/safe-fetch';
import type { SecretsClient } from './adapters/secrets.client';
import type { BlueprintFiles } from './blueprint-files';
import { type HeldTask, isOwned } from './held-task';
import type { LogShipper } from './logs';
import { type Masks, secretsIn } from './masks';

export interface HostDeps {
  deployments: DeploymentsClient;
  secrets: SecretsClient;
  files: BlueprintFiles;
  fetchUrl: SafeFetch;
  logs: LogShipper;
  clock: Clock;
  log: Log;
  workRoot: string;
}

/** What a running operation may ask for; every write makes sure first that the lease still holds. */
export function operationHost(deps: HostDeps, task: HeldTask, masks: Masks): OperationHost {
  const { assignment } = task;
  // Lines of workflow code are those of the execution.
  const logger = `ctx.${assignment.isWorkflowCode ? task.executionId : task.taskId}`;
  const line = { logger, taskId: task.taskId, executionId: task.executionId, signal: task.control.signal };
  const dir = deploymentDir(deps.workRoot, assignment.tenant, assignment.deploymentId);
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
    readResource: async (path) => {
      // What an operation of the deployment has put into its folder wins over the blueprint (reference/workflows.md 4.2).
      const own = normalize(path);
      if (!own.startsWith('..') && !own.startsWith('/')) {
        const found = await stat(join(dir, own)).catch(() => null);
        if (found?.isFile()) return join(dir, own);
      }
      return deps.files.locate(assignment.tenant, assignment.blueprintId, path);
    },
    emit: (kind, level, message) => {
      if (task.control.signal.reason === 'lease-lost') return;
      return deps.logs.add(line, kind, level, masks.hide(message));
    },
    fetchUrl: deps.fetchUrl,
    deploymentDir: async () => {
      await mkdir(dir, { recursive: true, mode: 0o700 });
      return dir;
    },
  };
}

/** Folder that operations of one deployment share on this machine; names cannot lead out of it. */
function deploymentDir(workRoot: string, tenant: string, deploymentId: string): string {
  const safe = (name: string): string => encodeURIComponent(name).replaceAll('.', '%2E') || '_';
  return join(workRoot, 'deployments', safe(tenant), safe(deploymentId));
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
