import { ApiError } from '@baton/client';
import { isJsonObject, type Json } from '@baton/kernel';
import { dropDependency } from '../dependencies';
import { type Deployment, findDeployment } from '../deployments';
import { runWorkflow } from '../executions';
import { labelValues } from '../labels';
import { readMarker } from '../marker';
import type { Scope } from '../scope';
import { STATE } from '../state';
import { isOnDemand } from './connect';
import { sharedRun, targetIdOf } from './target';

const SLOT = 'on_demand_uninstall';
const CONSUMER = 'csys-consumer-id';

/** `delete` of a shared resource: removes the dependency; the last consumer of an on-demand one uninstalls it (8.2). */
export async function disconnect(scope: Scope): Promise<Json> {
  const { ctx, instance, manager } = scope;
  const known = instance.runtimeProperties.deployment;
  const id = isJsonObject(known) && typeof known.id === 'string' ? known.id : targetIdOf(scope);
  const before = await findDeployment(manager, id);
  const isBegun = readMarker(instance, SLOT) !== null;
  if (before && !isBegun && !labelValues(before.labels, CONSUMER).includes(ctx.deployment.id))
    ctx.logger.warning(
      `Source deployment "${ctx.deployment.id}" is not a consumer of shared resource deployment "${id}"!`,
    );
  ctx.logger.info(
    `Removing inter-deployment dependency between this deployment ("${ctx.deployment.id}") and "${id}" SharedResource's deployment...`,
  );
  await dropDependency(scope, 'sharedresource', id);
  const after = await findDeployment(manager, id);
  if (after && (isBegun || isToGo(after))) await uninstall(scope, id);
  delete instance.runtimeProperties[STATE];
  return true;
}

/** Whether the deployment is to be uninstalled: it exists only on demand, and no consumer is left. */
function isToGo(deployment: Deployment): boolean {
  const { labels, installation_status } = deployment;
  const isKept = labelValues(labels, 'csys-obj-type').includes('on-demand-uninstall-off');
  const hasConsumers = labelValues(labels, CONSUMER).length > 0;
  return isOnDemand(deployment) && !isKept && !hasConsumers && installation_status === 'active';
}

/** A refusal (another deployment depends on it, another consumer was faster) is no failure of this operation. */
async function uninstall(scope: Scope, id: string): Promise<void> {
  try {
    await runWorkflow(scope, sharedRun(id, 'uninstall', SLOT));
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 400) throw error;
    scope.ctx.logger.warning(
      `Uninstall of shared resource deployment "${id}" is blocked. Error: ${error.message}.`,
    );
  }
}
