import { FatalError, type WorkflowNode } from '@baton/plugin-sdk';
import { type Dict, dictOf, fieldAt, isDict, type Json } from '../json';
import type { Model } from '../selection/select';

/** How many instances a node or scaling group shall have, as the manager takes it. */
export type ScaleSettings = Record<string, { instances: number; removed_ids_include_hint?: string[] }>;

/** What is scaled: a scaling group, or a node that is in none. */
export interface Entity {
  name: string;
  /** Instances more or less. */
  count: number;
  /** Runtime properties of new instances, or ids of instances that go. */
  values: Json[];
}

/**
 * Sorts the values by what is scaled. A group is scaled by the longest list of its nodes.
 * @throws FatalError for values of another kind than `isValue` takes
 */
export function entitiesOf(deployment: Dict, byNode: unknown, isValue: (value: Json) => boolean): Entity[] {
  if (!isDict(byNode) || Object.keys(byNode).length === 0)
    throw new FatalError('scalable_entity_properties: expected a dictionary with a list for each node');
  const [groups, scaling] = [dictOf(deployment.groups), dictOf(deployment.scaling_groups)];
  const entities = new Map<string, Entity>();
  for (const [node, values] of Object.entries(byNode)) {
    if (!Array.isArray(values) || !values.every(isValue))
      throw new FatalError(
        `scalable_entity_properties.${node}: expected a list, with a dictionary for each instance`,
      );
    const group = Object.keys(groups).find(
      (name) => Object.hasOwn(scaling, name) && membersOf(groups[name]).includes(node),
    );
    const name = group ?? node;
    const entity = entities.get(name) ?? { name, count: 0, values: [] };
    entity.count = Math.max(entity.count, values.length);
    entity.values.push(...values);
    entities.set(name, entity);
  }
  return [...entities.values()];
}

const membersOf = (group: Json | undefined): Json[] => {
  const members = fieldAt(group, ['members']);
  return Array.isArray(members) ? members : [];
};

/**
 * The new numbers of instances. `direction`: 1 for more, -1 for less.
 * @throws FatalError for something that is neither a scaling group nor a node
 */
export function settingsOf(
  { deployment, model }: { deployment: Dict; model: Model },
  entities: readonly Entity[],
  { direction, scalesCompute }: { direction: 1 | -1; scalesCompute: boolean },
): ScaleSettings {
  const settings: ScaleSettings = {};
  for (const { name, count, values } of entities) {
    if (count === 0) continue;
    const group = dictOf(deployment.scaling_groups)[name];
    const { id, instances } =
      group === undefined
        ? scaledNode(model, name, scalesCompute)
        : { id: name, instances: Number(fieldAt(group, ['properties', 'current_instances'])) };
    settings[id] = { instances: Math.max(0, instances + direction * count) };
    if (direction === -1) settings[id].removed_ids_include_hint = values.map(String);
  }
  return settings;
}

function scaledNode(model: Model, name: string, scalesCompute: boolean): { id: string; instances: number } {
  const node = model.nodes.find(({ id }) => id === name);
  if (node === undefined) throw new FatalError(`there is no scaling group and no node ${name}`);
  const scaled = (scalesCompute ? hostOf(model, node) : undefined) ?? node;
  return { id: scaled.id, instances: scaled.number_of_instances };
}

/** The node of the machine on which instances of the node run. */
function hostOf({ nodes, instances }: Model, node: WorkflowNode): WorkflowNode | undefined {
  const host = instances.find(({ node_id: id }) => id === node.id)?.host_id;
  const hostNode = instances.find(({ id }) => id === host)?.node_id;
  return nodes.find(({ id }) => id === hostNode);
}
