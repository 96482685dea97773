import type { Json } from '@baton/kernel';
import { readCapabilities } from '../capabilities';
import { readDeployment } from '../deployments';
import { blueprintDrift, deploymentDrift, differingKeys, driftResult } from '../drift';
import type { Scope } from '../scope';
import { componentConfigOf, deploymentIdOf, objectSetting } from '../settings';
import { runOnChild } from './run-on-child';

/** Runs check_drift on the deployment, then compares it with the node and the stored values (reference/workflows.md 8.1). */
export async function checkDrift(scope: Scope): Promise<Json> {
  await runOnChild(scope, 'check_drift');
  return await compare(scope);
}

/** Only compares: on a shared resource no workflow is run. */
export async function compare(scope: Scope): Promise<Json> {
  const { instance, manager } = scope;
  const config = componentConfigOf(scope);
  const id = deploymentIdOf(instance, config);
  const deployment = await readDeployment(manager, id);
  const capabilities = await readCapabilities(scope, id);
  return driftResult({
    hasClient: Object.keys(objectSetting(scope, 'client')).length > 0,
    capabilities: differingKeys(capabilities, instance.runtimeProperties.capabilities),
    deployment: deploymentDrift(config.deployment, deployment),
    blueprint: await blueprintPart(scope, deployment.blueprint_id),
  });
}

async function blueprintPart(scope: Scope, blueprintId: string | null): Promise<string[]> {
  const { blueprint: spec } = componentConfigOf(scope);
  if (blueprintId === null) return [];
  const { items } = await scope.manager.client.call('listBlueprints', {
    query: { id: blueprintId, _include: 'id,labels' },
  });
  const found = items[0];
  return found && 'labels' in found ? blueprintDrift(spec, found) : [];
}
