import type { ApiError } from '@baton/client';
import type { Json } from '@baton/kernel';
import { FatalError, OperationDeferred } from '@baton/plugin-sdk';
import { removeBlueprint } from '../blueprints';
import { dropDependency } from '../dependencies';
import { findDeployment } from '../deployments';
import { untilIdle } from '../executions';
import { isMissing, isRefusal } from '../failures';
import { deletePlugins } from '../plugins';
import type { Scope } from '../scope';
import { deleteSecrets } from '../secrets';
import { componentConfigOf, deploymentIdOf } from '../settings';
import { STATE, save, stateOf } from '../state';
import { CREATED, RECORDED } from './create';

/** Seconds between checks of a deletion: its execution is deleted with the deployment, so its end may never be reported. */
const LOOK_SECONDS = 0.5;
/** Maximum number of delete requests for the deployment before the operation fails. */
const MAX_REQUESTS = 3;

/**
 * `delete` of a component: deployment, blueprint, dependency, plugins, secrets, runtime properties, in this order
 * (reference/workflows.md 8.1). Each step recognizes the work of an earlier run. An external deployment was not created
 * here, and stays.
 */
export async function remove(scope: Scope): Promise<Json> {
  const { instance, ctx } = scope;
  const config = componentConfigOf(scope);
  const deploymentId = deploymentIdOf(instance, config);
  if (!config.deployment.external_resource) await removeDeployment(scope, deploymentId);
  await removeBlueprint(scope, config.blueprint);
  ctx.logger.info(
    `Removing inter-deployment dependency between this deployment ("${ctx.deployment.id}") and "${deploymentId}"`,
  );
  if (!config.deployment.external_resource) await dropDependency(scope, 'component', deploymentId);
  await deletePlugins(scope);
  await deleteSecrets(scope, scope.manager);
  for (const key of ['deployment', 'blueprint', 'plugins', CREATED, RECORDED, STATE])
    delete instance.runtimeProperties[key];
  return true;
}

/** Returns when the deployment is gone; defers the operation until then. */
async function removeDeployment(scope: Scope, id: string): Promise<void> {
  const { ctx, instance, manager } = scope;
  await untilIdle(scope, id, LOOK_SECONDS);
  const requests = Number(stateOf(instance).deletions ?? 0);
  if (!(await findDeployment(manager, id))) {
    if (requests === 0)
      ctx.logger.warning(`Didn't find component's "${id}" deployment, so nothing to do and moving on.`);
    return;
  }
  if (requests >= MAX_REQUESTS) {
    delete stateOf(instance).deletions;
    throw new FatalError(`Deployment "${id}" is still there after ${requests} requests to delete it`);
  }
  ctx.logger.info(`Delete component's "${id}" deployment`);
  await requestDeletion(scope, id);
  stateOf(instance).deletions = requests + 1;
  await save(instance);
  // Either the workflow that deletes the deployment is found, or the deployment is gone already.
  await untilIdle(scope, id, LOOK_SECONDS);
  if (await findDeployment(manager, id))
    throw new OperationDeferred(`Waiting for component's deployment "${id}" to be deleted`, {
      checkAfter: 1,
    });
}

/**
 * The manager refuses to delete a deployment that this one needs, unless this one is leaving (uninstall, heal, ...).
 * Other workflows (reinstall, scale) delete components too: then our own dependency is removed first.
 */
async function requestDeletion(scope: Scope, id: string): Promise<void> {
  const ask = () => scope.manager.client.call('deleteDeployment', { params: { id } });
  try {
    await ask();
  } catch (error) {
    if (isMissing(error)) return;
    if (!isRefusal(error, 'dependent_exists_error') || !isOnlyOurs(error, scope)) throw error;
    await dropDependency(scope, 'component', id);
    await ask();
  }
}

function isOnlyOurs({ details }: ApiError, { ctx }: Scope): boolean {
  const { dependents } = details;
  return (
    Array.isArray(dependents) && dependents.length > 0 && dependents.every((one) => one === ctx.deployment.id)
  );
}
