import { isAppError, isJsonObject } from '@baton/kernel';
import type { DeploymentModel } from '@baton/task-graph';
import type { CancelMode } from '../domain/cancel';
import type { EngineDeps } from '../engine/deps';
import { activeOfDeployment } from '../store/executions.sql';
import type { ExecutionRow } from '../store/rows';
import { cancelExecution, leaveUnfit } from './cancel-execution';

const COMPONENT = 'cloudify.nodes.Component';

/** Deployments of this manager and tenant that the component instances of a model stand for. */
export function componentDeployments({ nodes, nodeInstances }: DeploymentModel): string[] {
  const isOwn = (client: unknown): boolean =>
    client === undefined ||
    client === null ||
    (typeof client === 'object' && Object.keys(client).length === 0);
  const components = nodes.filter(
    ({ type_hierarchy, properties }) => type_hierarchy.includes(COMPONENT) && isOwn(properties.client),
  );
  const nodeIds = new Set(components.map(({ id }) => id));
  return nodeInstances.flatMap(({ node_id, runtime_properties }) => {
    const deployment = runtime_properties?.deployment;
    const id = isJsonObject(deployment) ? deployment.id : undefined;
    return nodeIds.has(node_id) && typeof id === 'string' ? [id] : [];
  });
}

/**
 * Cancels what still runs on the components of a deployment whose execution is cancelled, in the same way (reference
 * workflows.md 2.10); each of them does so with its own. Part of the end of the execution, which is driven until it is done.
 */
export async function cancelComponents(
  deps: EngineDeps,
  { tenant, deployment_id: deploymentId, id }: ExecutionRow,
  mode: CancelMode,
): Promise<void> {
  if (deploymentId === null) return;
  for (const component of componentDeployments(await modelOf(deps, tenant, deploymentId))) {
    const active = await activeOfDeployment(deps.db.query, tenant, component);
    for (const execution of active)
      if (execution.id !== id) await leaveUnfit(cancelExecution(deps, execution.id, mode));
  }
}

async function modelOf(deps: EngineDeps, tenant: string, id: string): Promise<DeploymentModel> {
  try {
    return (await deps.deployments.model(tenant, id, { isWhole: true })).model;
  } catch (error) {
    if (isAppError(error, 'not_found_error')) return { nodes: [], nodeInstances: [] };
    throw error;
  }
}
