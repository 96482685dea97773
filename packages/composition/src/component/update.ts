import { isJsonObject, type Json } from '@baton/kernel';
import { FatalError } from '@baton/plugin-sdk';
import { provideBlueprint } from '../blueprints';
import { storeCapabilities } from '../capabilities';
import { readDeployment, requireWell } from '../deployments';
import { type UpdatePlan, updatePlan } from '../drift';
import { untilIdle } from '../executions';
import { type Labels, labelsOf } from '../labels';
import type { Scope } from '../scope';
import { blueprintIdOf, type ComponentConfig, componentConfigOf, deploymentIdOf } from '../settings';
import { runOnChild } from './run-on-child';

/**
 * Brings the deployment in line with the node: new blueprint and inputs by a deployment update, labels are added, and its
 * capabilities become those of the node
 * (reference/workflows.md 8.1). The drift is the one that check_drift has stored.
 */
export async function update(scope: Scope): Promise<Json> {
  const { instance, manager } = scope;
  const config = componentConfigOf(scope);
  const deploymentId = deploymentIdOf(instance, config);
  const stored = instance.systemProperties.configuration_drift;
  const plan = updatePlan(isJsonObject(stored) ? stored.result : undefined, deploymentId);
  if (plan.refusal !== null) throw new FatalError(plan.refusal);
  if (plan.hasBlueprint || plan.hasInputs) await updateDeployment(scope, config, plan, deploymentId);
  if (plan.hasLabels) await addLabels(scope, deploymentId, labelsOf(config.deployment.labels));
  await untilIdle(scope, deploymentId);
  await requireWell(manager, deploymentId);
  // Other nodes read values of the deployment there.
  await storeCapabilities(scope, deploymentId, instance);
  return null;
}

async function updateDeployment(
  scope: Scope,
  config: ComponentConfig,
  plan: UpdatePlan,
  deploymentId: string,
): Promise<void> {
  await runOnChild(scope, 'update', async (idempotencyKey) => {
    // A new blueprint may be uploaded with the update, as the first one was with the installation.
    if (plan.hasBlueprint) await provideBlueprint(scope, config.blueprint);
    const { execution_id } = await scope.manager.client.call('initiateDeploymentUpdate', {
      params: { deployment_id: deploymentId },
      body: {
        ...(plan.hasBlueprint && { blueprint_id: blueprintIdOf(scope.instance, config.blueprint) }),
        ...(plan.hasInputs && { inputs: config.deployment.inputs }),
      },
      idempotencyKey,
    });
    if (execution_id === null) throw new FatalError(`The update of "${deploymentId}" has no execution`);
    return execution_id;
  });
}

/** Only adds labels: existing labels of the deployment and of the manager stay. */
async function addLabels({ manager }: Scope, id: string, wanted: Labels): Promise<void> {
  const { labels } = await readDeployment(manager, id);
  const known = labels
    .filter(({ key }) => key !== 'csys-consumer-id')
    .map(({ key, value }) => ({ [key]: value }));
  const missing = wanted.filter((label) => {
    const [key, value] = Object.entries(label)[0]!;
    return !labels.some((one) => one.key === key && one.value === value);
  });
  if (missing.length > 0)
    await manager.client.call('updateDeployment', {
      params: { id },
      body: { labels: [...known, ...missing] },
    });
}
