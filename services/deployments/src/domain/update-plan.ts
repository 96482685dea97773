import type { ChangedInstance, Modification, PlanNode, PlanScalingGroup, UpdateStep } from '@baton/dsl';
import type { JsonObject } from '@baton/kernel';

/** Computes a deployment update from two plans (reference/workflows.md 1.13, reference/dsl.md ch. 8). Pure. */

type Groups = Record<string, PlanScalingGroup>;

interface Counts {
  id: string;
  number_of_instances: number;
  planned_number_of_instances: number;
}

export interface KeptCounts {
  nodes: PlanNode[];
  /** Nodes for which the blueprint states another number of instances than they have. */
  modified: Record<string, { instances: number }>;
}

/** Keeps the present number of instances of nodes that stay, whatever the new plan says, unless it states `instances.deploy`. */
export function keepCounts(nodes: readonly PlanNode[], present: readonly Counts[]): KeptCounts {
  const known = new Map(present.map((node) => [node.id, node]));
  const modified: KeptCounts['modified'] = {};
  const kept = nodes.map((node) => {
    const now = known.get(node.id);
    if (!now) return node;
    const stated = (node as { instances?: { deploy?: unknown } | null }).instances?.deploy;
    const isScaled = typeof stated === 'number' && stated !== now.planned_number_of_instances;
    if (isScaled) modified[node.id] = { instances: stated };
    const properties = {
      ...node.capabilities.scalable.properties,
      current_instances: isScaled ? stated : now.number_of_instances,
      planned_instances: isScaled ? stated : now.planned_number_of_instances,
    };
    return { ...node, capabilities: { ...node.capabilities, scalable: { properties } } } as PlanNode;
  });
  return { nodes: kept, modified };
}

/** Returns the groups of the new plan; groups that stay keep their numbers. */
export function keepGroupCounts(groups: Groups, present: Groups): Groups {
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => {
      const now = present[name]?.properties;
      if (!now) return [name, group];
      const { current_instances, planned_instances } = now;
      return [name, { ...group, properties: { ...group.properties, current_instances, planned_instances } }];
    }),
  );
}

/** A node with the relationships that its record still holds although they are gone. */
export type RecordedNode = PlanNode & { former_relationships?: PlanNode['relationships'] };

/**
 * Returns the node as the steps of an update see it. The record of a node never loses its last relationship (as in the original):
 * the next update still removes it, or finds nothing to do when the relationship is back.
 */
export function recordedNode(node: RecordedNode): PlanNode {
  const { former_relationships: former = [], ...rest } = node;
  return { ...rest, relationships: node.relationships.length > 0 ? node.relationships : former } as PlanNode;
}

/** Returns the node of a new plan with the record of the node that it replaces. */
export function keepRecord(node: PlanNode, before: RecordedNode | undefined): RecordedNode {
  const recorded = before ? recordedNode(before).relationships : [];
  if (node.relationships.length > 0 || recorded.length === 0) return node;
  return { ...node, former_relationships: recorded };
}

/** Converts a step to the form of REST. */
export function presentStep(step: UpdateStep, id: string) {
  const { action, entity_type, entity_id, topology_order } = step;
  return { id, action, entity_type, entity_id, topology_order };
}

export function describeStep(step: UpdateStep): string {
  return `entity type: ${step.entity_type}, entity id: ${step.entity_id.join(':')}, action: ${step.action}`;
}

type StoredStep = Omit<UpdateStep, 'isSupported'>;

/**
 * Returns the ids of nodes with a changed property or operation, including operations of their relationships: their instances have
 * changed.
 */
function changedNodes(steps: readonly StoredStep[]): string[] {
  const ids = steps
    .filter((one) => one.entity_id[0] === 'nodes')
    .filter((one) => one.entity_type === 'property' || one.entity_type === 'operation')
    .map((one) => one.entity_id[1]!);
  return [...new Set(ids)];
}

/** Returns the paths of the entities that the steps change, by kind. */
export function modifiedEntities(steps: readonly StoredStep[]): Record<string, string[][]> {
  const found: Record<string, string[][]> = {};
  for (const one of steps) (found[one.entity_type] ??= []).push(one.entity_id);
  return found;
}

/** A relationship of an instance that is removed. */
export interface LeavingRelationship {
  source: string;
  type: string;
  target: string;
}

export interface Leaving {
  instances: string[];
  relationships: LeavingRelationship[];
}

const marked = (list: readonly ChangedInstance[], mark: ChangedInstance['modification']) =>
  list.filter((one) => one.modification === mark);
const idsOf = (list: readonly ChangedInstance[]): string[] => list.map((one) => one.id);
const pairsOf = (list: readonly ChangedInstance[]): [string, string][] =>
  list.flatMap((one) => one.relationships.map((r): [string, string] => [one.id, r.target_id]));

export function leavingOf(change: Modification): Leaving {
  return {
    instances: idsOf(marked(change.removed_and_related, 'removed')),
    relationships: marked(change.reduced_and_related, 'reduced').flatMap((one) =>
      one.relationships.map((r) => ({ source: one.id, type: r.type, target: r.target_id })),
    ),
  };
}

/** Returns UpdateChanges of task-graph: the instances and relationships that the workflow installs, uninstalls and connects. */
export function updateChanges(change: Modification, steps: readonly StoredStep[]) {
  const extended = marked(change.extended_and_related, 'extended');
  const reduced = marked(change.reduced_and_related, 'reduced');
  return {
    added: idsOf(marked(change.added_and_related, 'added')),
    added_related: idsOf(marked(change.added_and_related, undefined)),
    removed: idsOf(marked(change.removed_and_related, 'removed')),
    removed_related: idsOf(marked(change.removed_and_related, undefined)),
    extended: idsOf(extended),
    reduced: idsOf(reduced),
    extended_relationships: pairsOf(extended),
    reduced_relationships: pairsOf(reduced),
    changed_nodes: changedNodes(steps),
    modified_entity_ids: touchedEntities(steps),
  };
}

const KINDS = ['node', 'property', 'operation', 'workflow', 'output', 'description', 'group', 'policy_type'];

/** Returns the changed entities for a custom workflow of an update: names by kind, relationships by their node. */
function touchedEntities(steps: readonly StoredStep[]): JsonObject {
  const named: Record<string, string[]> = Object.fromEntries(
    [...KINDS, 'policy_trigger', 'plugin'].map((kind) => [kind, []]),
  );
  const relationships: Record<string, number[]> = {};
  for (const { entity_type: kind, entity_id: path } of steps) {
    const name = path[1];
    if (name === undefined) continue;
    if (kind === 'relationship') (relationships[name] ??= []).push(Number(path[3]));
    else named[kind]?.push(name);
  }
  return { ...named, relationship: relationships, rel_mappings: {} };
}

/** Returns the relationships that remaining instances gain, each once: two lists may contain the same relationship. */
export function gainedRelationships(change: Modification): Map<string, ChangedInstance['relationships']> {
  const gained = new Map<string, ChangedInstance['relationships']>();
  const stay = [
    ...marked(change.added_and_related, undefined),
    ...marked(change.extended_and_related, 'extended'),
  ];
  for (const one of stay) {
    if (one.relationships.length === 0) continue;
    const all = [...(gained.get(one.id) ?? []), ...one.relationships];
    gained.set(one.id, [...new Map(all.map((r) => [`${r.type}\n${r.target_id}`, r])).values()]);
  }
  return gained;
}
