import type { Json } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { storeCapabilities } from '../capabilities';
import { recordDependency } from '../dependencies';
import { type Deployment, findDeployment, readDeployment } from '../deployments';
import { runWorkflow } from '../executions';
import { labelValues } from '../labels';
import { readMarker, writeMarker } from '../marker';
import type { Scope } from '../scope';
import { sharedRun, targetIdOf } from './target';

const SLOT = 'on_demand_install';

export function isOnDemand({ labels }: Pick<Deployment, 'labels'>): boolean {
  return labelValues(labels, 'csys-obj-type').includes('on-demand-resource');
}

/**
 * `create` of a shared resource: the deployment must exist; an on-demand one is installed by its first consumer. The
 * dependency (and with it the label csys-consumer-id) is recorded before that: from then on no other consumer
 * uninstalls it (8.2).
 */
export async function connect(scope: Scope): Promise<Json> {
  const { ctx, instance, manager } = scope;
  const id = targetIdOf(scope);
  ctx.logger.info(
    `Validating that "${id}" SharedResource's deployment exists on tenant "${manager.tenant}"...`,
  );
  const deployment = await findDeployment(manager, id);
  if (!deployment)
    throw new FatalError(
      `SharedResource's deployment ID "${id}" does not exist on tenant "${manager.tenant}", please verify the given ID.`,
    );
  instance.runtimeProperties.deployment = { id };
  const isBegun =
    readMarker(instance, SLOT)?.state === 'waiting' || readMarker(instance, SLOT)?.state === 'told';
  if (deployment.installation_status === 'inactive' && !isOnDemand(deployment))
    throw new FatalError(
      `SharedResource's deployment "${id}" is in an inactive state and isn't labeled as ` +
        '`csys-obj-type: on-demand-resource`. Please install the deployment first',
    );
  await recordDependency(scope, 'sharedresource', id);
  if (isBegun || deployment.installation_status === 'inactive') await install(scope, id);
  await storeCapabilities(scope, id, instance);
  return true;
}

/** With two consumers at once the second install finds everything installed and fails, which is acceptable. */
async function install(scope: Scope, id: string): Promise<void> {
  try {
    await runWorkflow(scope, {
      ...sharedRun(id, 'install', SLOT),
      request: { allow_custom_parameters: true, queue: true },
    });
  } catch (error) {
    const isFatal = error instanceof FatalError;
    if (!isFatal || (await readDeployment(scope.manager, id)).installation_status !== 'active') throw error;
    scope.ctx.logger.info(`Deployment "${id}" has been installed meanwhile`);
    const marker = readMarker(scope.instance, SLOT);
    if (marker) writeMarker(scope.instance, SLOT, { ...marker, state: 'done' });
  }
}
