import type { JsonObject } from '@baton/kernel';
import type { DeploymentModel, NodeInstance, PlanNode, PlanOperation } from '@baton/task-graph';
import type { Random } from './random';

const LIFECYCLE = [
  'precreate',
  'create',
  'configure',
  'start',
  'poststart',
  'prestop',
  'stop',
  'delete',
  'heal',
  'check_drift',
];
const OTHERS = ['cloudify.interfaces.validation.check_status', 'cloudify.interfaces.monitoring.start'];
const RELATIONSHIP = ['preconfigure', 'postconfigure', 'establish', 'unlink'];

const OPERATION: PlanOperation = {
  plugin: 'probe',
  operation: 'probe.op',
  executor: 'central_deployment_agent',
  inputs: {},
};

/** Returns a deployment of a few nodes whose relationships point only to earlier nodes. */
export function randomModel(random: Random, state: string): DeploymentModel {
  const nodes: PlanNode[] = [];
  const count = 1 + random.below(5);
  for (let i = 0; i < count; i++) nodes.push(randomNode(random, i));
  const nodeInstances: NodeInstance[] = nodes.flatMap((node) =>
    Array.from({ length: node.number_of_instances! }, (_, n) => ({
      id: `${node.id}_${n}`,
      node_id: node.id,
      state,
      relationships: [],
      system_properties: {},
    })),
  );
  for (const source of nodeInstances) {
    for (const rel of nodes.find((n) => n.id === source.node_id)!.relationships) {
      for (const target of nodeInstances.filter((i) => i.node_id === rel.target_id)) {
        source.relationships.push({ target_id: target.id, target_name: rel.target_id, type: rel.type });
      }
    }
  }
  return { nodes, nodeInstances };
}

function randomNode(random: Random, i: number): PlanNode {
  const some = (names: string[]) => names.filter(() => random.chance(0.5));
  const named = (prefix: string, names: string[]) =>
    Object.fromEntries(names.map((n) => [`${prefix}${n}`, OPERATION]));
  const targets = Array.from({ length: i }, (_, t) => t).filter(() => random.chance(0.4));
  return {
    id: `n${i}`,
    type: 'node',
    type_hierarchy: ['cloudify.nodes.Root', 'node'],
    properties: {},
    operations: { ...named('cloudify.interfaces.lifecycle.', some(LIFECYCLE)), ...named('', some(OTHERS)) },
    relationships: targets.map((t, k) => {
      const type = `cloudify.relationships.${k === 0 && random.chance(0.3) ? 'contained_in' : 'connected_to'}`;
      const prefix = 'cloudify.interfaces.relationship_lifecycle.';
      return {
        type,
        target_id: `n${t}`,
        type_hierarchy: [type],
        properties: random.chance(0.3)
          ? ({ operation: random.pick(['create', 'start', 'delete']) } as JsonObject)
          : {},
        source_operations: named(prefix, some(RELATIONSHIP)),
        target_operations: named(prefix, some(RELATIONSHIP)),
      };
    }),
    number_of_instances: 1 + random.below(2),
  };
}
