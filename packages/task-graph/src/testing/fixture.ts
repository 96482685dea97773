import type { JsonObject } from '@baton/kernel';
import type { DeploymentModel, NodeInstance, PlanNode, PlanOperation, PlanRelationship } from '../model';
import type { WorkflowConfig, WorkflowInput } from '../workflow';

/** Small deployment models for tests, described by names instead of plans. */

export interface NodeFixture {
  /** Lifecycle operations by short name, others by full name. */
  ops?: string[];
  inputs?: JsonObject;
  rels?: (string | RelFixture)[];
  count?: number;
  state?: string | null;
  types?: string[];
  properties?: JsonObject;
  /** Fields to replace, per operation. */
  over?: { [op: string]: Partial<PlanOperation> };
}

export interface RelFixture {
  to: string;
  contained?: boolean;
  source?: string[];
  target?: string[];
  properties?: JsonObject;
}

const LC = 'cloudify.interfaces.lifecycle';
const RLC = 'cloudify.interfaces.relationship_lifecycle';

function planOperation(over: Partial<PlanOperation> = {}): PlanOperation {
  return {
    plugin: 'probe',
    operation: 'probe.op',
    executor: 'central_deployment_agent',
    inputs: {},
    ...over,
  };
}

/** One node per entry; instances are called `<node>_<n>`, and all instances of related nodes are related. */
export function fixture(nodes: { [id: string]: NodeFixture }): DeploymentModel {
  const planNodes = Object.entries(nodes).map(([id, node]) => planNode(id, node));
  const nodeInstances: NodeInstance[] = [];
  for (const [id, node] of Object.entries(nodes)) {
    for (let i = 0; i < (node.count ?? 1); i++) nodeInstances.push(instance(`${id}_${i}`, id, node));
  }
  for (const source of nodeInstances) {
    for (const rel of planNodes.find((n) => n.id === source.node_id)!.relationships) {
      for (const target of nodeInstances.filter((i) => i.node_id === rel.target_id)) {
        source.relationships.push({ target_id: target.id, target_name: rel.target_id, type: rel.type });
      }
    }
  }
  return { nodes: planNodes, nodeInstances };
}

function instance(id: string, nodeId: string, node: NodeFixture): NodeInstance {
  const state = node.state === undefined ? 'uninitialized' : node.state;
  return { id, node_id: nodeId, state, relationships: [], runtime_properties: {}, system_properties: {} };
}

function planNode(id: string, node: NodeFixture): PlanNode {
  const operations: PlanNode['operations'] = {};
  for (const op of node.ops ?? []) {
    const name = op.includes('.') ? op : `${LC}.${op}`;
    operations[name] = planOperation({ inputs: node.inputs ?? {}, ...node.over?.[op] });
  }
  return {
    id,
    type: node.types?.at(-1) ?? 'cloudify.nodes.Root',
    type_hierarchy: ['cloudify.nodes.Root', ...(node.types ?? [])],
    properties: node.properties ?? {},
    operations,
    relationships: (node.rels ?? []).map(relationship),
    number_of_instances: node.count ?? 1,
  };
}

function relationship(rel: string | RelFixture): PlanRelationship {
  const { to, contained, source, target, properties } =
    typeof rel === 'string' ? ({ to: rel } as RelFixture) : rel;
  const type = contained ? 'cloudify.relationships.contained_in' : 'cloudify.relationships.connected_to';
  const ops = (names: string[] = []) =>
    Object.fromEntries(names.map((n) => [`${RLC}.${n}`, planOperation()]));
  return {
    type,
    target_id: to,
    type_hierarchy: ['cloudify.relationships.depends_on', type],
    properties: properties ?? {},
    source_operations: ops(source),
    target_operations: ops(target),
  };
}

export const CONFIG: WorkflowConfig = {
  tenant: 'tenant-1',
  taskRetries: 2,
  taskRetryIntervalMs: 50,
  subgraphRetries: 0,
  waitAfterFailMs: 600_000,
};

export function inputOf(
  workflowId: string,
  model: DeploymentModel,
  parameters: JsonObject = {},
  config: Partial<WorkflowConfig> = {},
): WorkflowInput {
  return {
    workflowId,
    executionId: 'execution-1',
    deploymentId: 'deployment-1',
    blueprintId: 'blueprint-1',
    parameters,
    model,
    config: { ...CONFIG, ...config },
    resume: false,
    dryRun: false,
  };
}

/** The same; every instance without a given state is `started`. */
export function started(nodes: { [id: string]: NodeFixture }): DeploymentModel {
  for (const node of Object.values(nodes)) node.state ??= 'started';
  return fixture(nodes);
}

export function systemOf(model: DeploymentModel, id: string): JsonObject {
  return model.nodeInstances.find((i) => i.id === id)!.system_properties as JsonObject;
}
