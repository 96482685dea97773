import type { BaseScope } from '@baton/plugin-sdk';
import type { HostValues } from './host-config';

interface Instance {
  id: string;
  node_id: string;
  host_id: string | null;
  runtime_properties: Record<string, unknown> | null;
}
interface Node {
  id: string;
  type: string;
  type_hierarchy: string[];
  properties: Record<string, unknown>;
}

/** The instance that the given one is contained in, at the top; null: there is none, or it is the instance itself. */
export async function hostOf(scope: BaseScope, instanceId: string): Promise<HostValues | null> {
  const { host_id: id } = await readInstance(scope, instanceId);
  if (id === null || id === instanceId) return null;
  const host = await readInstance(scope, id);
  const node = await readNode(scope, host.node_id);
  return node === null
    ? null
    : {
        instanceId: id,
        nodeId: node.id,
        type: node.type,
        typeHierarchy: node.type_hierarchy,
        properties: node.properties,
        runtime: host.runtime_properties ?? {},
      };
}

export const readInstance = ({ manager }: BaseScope, id: string): Promise<Instance> =>
  manager().get<Instance>(`/node-instances/${encodeURIComponent(id)}`);

/** A node of the deployment, with the functions of its properties evaluated. */
export async function readNode({ manager, ctx }: BaseScope, nodeId: string): Promise<Node | null> {
  const query = new URLSearchParams({
    deployment_id: ctx.deployment.id,
    id: nodeId,
    _evaluate_functions: 'true',
  });
  const { items } = await manager().get<{ items: Node[] }>(`/nodes?${query}`);
  return items[0] ?? null;
}

/** Groups of the blueprint that a node is a member of. */
export async function groupsOf({ manager, ctx }: BaseScope, nodeName: string): Promise<string[]> {
  const path = `/deployments/${encodeURIComponent(ctx.deployment.id)}`;
  const { groups } = await manager().get<{ groups?: Record<string, { members?: string[] }> | null }>(path);
  return Object.entries(groups ?? {})
    .filter(([, { members = [] }]) => members.includes(nodeName))
    .map(([name]) => name);
}
