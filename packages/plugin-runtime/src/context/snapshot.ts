import type { JsonObject } from '@baton/kernel';
import type { Side } from './instance';
import type { OperationSession } from './session';

function sideSnapshot(side: Side): JsonObject {
  const { node, instance } = side;
  return {
    node: {
      id: node.id,
      name: node.name,
      type: node.type,
      type_hierarchy: [...node.typeHierarchy],
      properties: node.properties,
      number_of_instances: node.numberOfInstances,
    },
    instance: {
      id: instance.id,
      index: instance.index,
      host_id: instance.record.host_id,
      runtime_properties: instance.runtimeProperties,
      system_properties: instance.systemProperties,
      relationships: instance.record.relationships as never,
      scaling_groups: instance.scalingGroups,
    },
  };
}

/** Facts of the run that need no rpc, by the names of the ctx API (reference/workflows.md 4.2). */
export function staticSnapshot(session: OperationSession): JsonObject {
  const { task } = session;
  const relationship = task.related ? (task.related.isTarget ? 'source' : 'target') : null;
  return {
    type: session.type,
    task_id: task.taskId,
    task_name: task.mapping,
    execution_id: task.executionId,
    workflow_id: task.workflowId,
    workflow_parameters: task.workflowParameters as JsonObject,
    execution_token: task.executionToken,
    execution_creator_username: task.createdBy,
    tenant_name: task.tenant,
    tenant: { name: task.tenant },
    resume: task.isResumed,
    timeout: task.timeoutMs === null ? null : task.timeoutMs / 1000,
    timeout_recoverable: task.isTimeoutRecoverable,
    operation: {
      name: task.operation,
      retry_number: task.retryNumber,
      max_retries: task.maxRetries,
      relationship,
    },
    plugin: {
      name: task.plugin.name,
      package_name: task.plugin.packageName,
      package_version: task.plugin.packageVersion,
      source: task.plugin.source,
      properties: (session.plugin?.properties ?? task.plugin.properties ?? {}) as JsonObject,
      prefix: session.plugin?.prefix ?? null,
    },
    deployment: { id: task.deploymentId, display_name: task.deploymentDisplayName, tenant_name: task.tenant },
    blueprint: { id: task.blueprintId },
  };
}

/** Returns all data about the run as plain JSON: the `ctx` of templates. */
export async function contextSnapshot(session: OperationSession): Promise<JsonObject> {
  const facts = staticSnapshot(session);
  if (session.type === 'deployment') return facts;
  const { model } = await session.open();
  const deployment = { ...(facts.deployment as JsonObject), ...model.deployment };
  if (session.type === 'node-instance') {
    const own = await session.own();
    const hostIp = await own.instance.hostIp().catch(() => null);
    const side = sideSnapshot(own);
    return { ...facts, deployment, ...side, instance: { ...(side.instance as JsonObject), host_ip: hostIp } };
  }
  const [source, target] = [await session.side('source'), await session.side('target')];
  return { ...facts, deployment, source: sideSnapshot(source), target: sideSnapshot(target) };
}
