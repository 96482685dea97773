import type { DeploymentModel, NodeInstance, PlanNode, PlanRelationship } from '../model';

/** Look-ups over a deployment model, made once per stage. */
export interface ModelIndex {
  model: DeploymentModel;
  nodes: Map<string, PlanNode>;
  instances: Map<string, NodeInstance>;
  /** Relationships of an instance, one per target instance, in blueprint order. */
  relationshipsOf(instance: NodeInstance): InstanceRelationship[];
}

export interface InstanceRelationship {
  source: NodeInstance;
  target: NodeInstance;
  /** The relationship of the node that this one comes from. */
  plan: PlanRelationship;
}

const CONTAINED_IN = 'cloudify.relationships.contained_in';
const COMPUTE = 'cloudify.nodes.Compute';

export function indexModel(model: DeploymentModel): ModelIndex {
  const nodes = new Map(model.nodes.map((node) => [node.id, node]));
  const instances = new Map(model.nodeInstances.map((instance) => [instance.id, instance]));
  const planned = new Map<string, Map<string, PlanRelationship>>();
  // Of several relationships between the same two nodes, or instances, only the last one counts (reference 1.5).
  for (const node of model.nodes)
    planned.set(node.id, new Map(node.relationships.map((r) => [r.target_id, r])));
  const known = new Map<string, InstanceRelationship[]>();
  const relationshipsOf = (source: NodeInstance): InstanceRelationship[] => {
    let found = known.get(source.id);
    if (!found) {
      found = readRelationships(source, instances, planned.get(source.node_id) ?? new Map());
      known.set(source.id, found);
    }
    return found;
  };
  return { model, nodes, instances, relationshipsOf };
}

function readRelationships(
  source: NodeInstance,
  instances: Map<string, NodeInstance>,
  planned: Map<string, PlanRelationship>,
): InstanceRelationship[] {
  const byTarget = new Map<string, InstanceRelationship>();
  for (const { target_id, target_name, type } of source.relationships) {
    const target = instances.get(target_id);
    if (!target) continue;
    const plan = planned.get(target.node_id ?? target_name) ?? { type, target_id: target.node_id };
    byTarget.set(target_id, { source, target, plan });
  }
  return [...byTarget.values()];
}

export function isHostNode(node: PlanNode | undefined): boolean {
  return node?.type_hierarchy.includes(COMPUTE) ?? false;
}

/** Returns how an agent is installed on a host: the property `install_agent` overrides `agent_config.install_method`. */
export function installMethodOf(node: PlanNode | undefined): string {
  const { install_agent: flag, agent_config: config } = node?.properties ?? {};
  if (flag === false) return 'none';
  if (flag === true) return 'remote';
  const method =
    config && typeof config === 'object' && !Array.isArray(config) ? config.install_method : null;
  return typeof method === 'string' ? method : 'none';
}

const WITHOUT_AGENT: ReadonlySet<string> = new Set(['none', 'ssh']);

/** Whether a host with this install method gets an agent; `ssh` (Baton's own): its operations run over SSH without one. */
export const getsAgent = (installMethod: string): boolean => !WITHOUT_AGENT.has(installMethod);

/** An instance and everything contained in it, at any depth. */
export function containedSubgraph(ix: ModelIndex, root: NodeInstance): NodeInstance[] {
  const children = containmentOf(ix);
  const found = new Set([root]);
  for (const instance of found) for (const child of children.get(instance.id) ?? []) found.add(child);
  return [...found];
}

const containments = new WeakMap<ModelIndex, Map<string, NodeInstance[]>>();

function containmentOf(ix: ModelIndex): Map<string, NodeInstance[]> {
  let children = containments.get(ix);
  if (!children) {
    children = new Map();
    for (const instance of ix.model.nodeInstances) {
      for (const { target, plan } of ix.relationshipsOf(instance)) {
        if (!(plan.type_hierarchy ?? [plan.type]).includes(CONTAINED_IN)) continue;
        children.set(target.id, [...(children.get(target.id) ?? []), instance]);
      }
    }
    containments.set(ix, children);
  }
  return children;
}
