import type { Json, JsonObject } from '@baton/kernel';
import type { NodeInstance, PlanOperation } from '../model';
import type { OperationPayload } from '../operation';
import { installMethodOf, isHostNode, type ModelIndex } from './model-index';

/**
 * Decides where an operation runs: on a worker of the manager, on the agent of its host, or at the host over SSH
 * (reference workflows.md 3.3, 7.2).
 */

export type Route = Pick<OperationPayload, 'executor' | 'agent' | 'agentName' | 'isOverSsh'>;

/** Install methods with which a host has an agent, or is said to have one. */
const WITH_AGENT = new Set(['remote', 'init_script', 'plugin', 'provided']);

/** Returns whether the built-in plugin `agent` carries the operation out; a namespace may stand before its name. */
const isOfAgentPlugin = ({ plugin, operation }: PlanOperation): boolean =>
  operation.startsWith('cloudify_agent.') && (plugin === 'agent' || plugin.endsWith('--agent'));

/**
 * Returns where an operation of `instance` runs. `tenant` is the tenant of the execution. A host whose install method is
 * `none`, or one that this release does not know, has no agent: a worker runs its operations. The operations that install,
 * check and remove agents always run on a worker, whatever the types say: the agent may be the thing that is missing.
 */
export function routeOf(ix: ModelIndex, tenant: string, op: PlanOperation, instance: NodeInstance): Route {
  const executor = executorOf(op, instance);
  if (executor !== 'host_agent' || isOfAgentPlugin(op)) return { executor };
  const hostId = instance.host_id;
  const host = hostId ? ix.instances.get(hostId) : undefined;
  const node = host && ix.nodes.get(host.node_id);
  if (!host || !isHostNode(node)) return { executor };
  const config = objectOf(node?.properties.agent_config);
  const proxy = objectOf(objectOf(config.extra).proxy);
  const proxied = textOf(proxy.node_instance);
  if (proxied !== null) return { executor, agent: `${textOf(proxy.tenant) ?? tenant}/${proxied}` };
  const method = installMethodOf(node);
  if (method === 'ssh') return { executor, isOverSsh: true };
  if (!WITH_AGENT.has(method)) return { executor };
  const name = textOf(config.service_name);
  return { executor, agent: `${tenant}/${host.id}`, ...(name !== null && { agentName: name }) };
}

/** `auto` = on the instance's host, where there is one. */
function executorOf(op: PlanOperation, instance: NodeInstance): OperationPayload['executor'] {
  if (op.executor === 'auto') return instance.host_id ? 'host_agent' : 'central_deployment_agent';
  return op.executor === 'host_agent' ? 'host_agent' : 'central_deployment_agent';
}

const objectOf = (value: Json | undefined): JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};

const textOf = (value: Json | undefined): string | null =>
  typeof value === 'string' && value !== '' ? value : null;
