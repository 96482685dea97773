import { fail } from '../diagnostics/dsl-error';
import type { InstanceRelationship, NodeInstance } from '../plan/plan';
import type { IdMint } from './ids';
import { type Edge, type Structure, sharedGroup, type Unit } from './structure';

/** An instance of a unit in the forest of instances. */
export interface Instance {
  unit: Unit;
  id: string;
  parent: Instance | null;
  hostId: string | null;
  isNew: boolean;
}

export type InstancesByUnit = Map<Unit, Instance[]>;

const MAX_INSTANCES = 1_000_000;

/**
 * Makes instances from the roots down. `plan` returns, for a unit below one parent, the ids of instances to keep and
 * the number of new ones.
 */
export function growForest(
  structure: Structure,
  mint: IdMint,
  plan: (unit: Unit, parent: Instance | null) => { kept: readonly string[]; added: number },
): InstancesByUnit {
  const instances: InstancesByUnit = new Map();
  for (const unit of structure.units.values()) instances.set(unit, []);
  let total = 0;
  const open: { unit: Unit; parent: Instance | null }[] = structure.roots
    .map((unit) => ({ unit, parent: null }))
    .reverse();
  while (open.length > 0) {
    const { unit, parent } = open.pop()!;
    const { kept, added } = plan(unit, parent);
    total += kept.length + added;
    if (total > MAX_INSTANCES)
      fail('limit_exceeded', 'the blueprint makes too many instances', {
        path: `node_templates.${unit.name}`,
        expected: `at most ${MAX_INSTANCES}`,
      });
    const list = instances.get(unit)!;
    const made: Instance[] = [];
    for (const id of kept) made.push({ unit, id, parent, hostId: null, isNew: false });
    for (let i = 0; i < added; i++)
      made.push({ unit, id: mint.next(unit.name), parent, hostId: null, isNew: true });
    for (const instance of made) {
      instance.hostId = parent?.hostId ?? (unit.isHost ? instance.id : null);
      list.push(instance);
    }
    for (const instance of made.reverse())
      for (let i = unit.children.length - 1; i >= 0; i--)
        open.push({ unit: unit.children[i]!, parent: instance });
  }
  return instances;
}

function ancestor(instance: Instance, unit: Unit): Instance | null {
  for (let at: Instance | null = instance; at; at = at.parent) if (at.unit === unit) return at;
  return null;
}

/**
 * Yields node instances in the order of their creation: tree by tree, in the order of the first node of each, every
 * instance before the instances inside it. Group instances are left out.
 */
function* inOrder(structure: Structure, instances: InstancesByUnit): Generator<Instance> {
  const below = new Map<Instance, Instance[]>();
  for (const unit of structure.units.values())
    for (const instance of instances.get(unit)!) {
      const { parent } = instance;
      if (!parent) continue;
      const list = below.get(parent);
      if (list) list.push(instance);
      else below.set(parent, [instance]);
    }
  const roots = new Set([...structure.units.values()].map(rootOf));
  for (const root of roots) {
    const open = [...instances.get(root)!].reverse();
    while (open.length > 0) {
      const instance = open.pop()!;
      if (!instance.unit.isGroup) yield instance;
      for (const inner of (below.get(instance) ?? []).reverse()) open.push(inner);
    }
  }
}

function rootOf(unit: Unit): Unit {
  let at = unit;
  while (at.parent) at = at.parent;
  return at;
}

/** Returns the previous target of an all_to_one relationship; null when it had none. */
export type PreviousTarget = (source: Unit, edge: Edge, targets: readonly Instance[]) => string | null;

interface Connected {
  instance: Instance;
  relationships: InstanceRelationship[];
}

/** Makes the relationships between instances, by the connection types (reference 7.1). */
export function connect(
  structure: Structure,
  instances: InstancesByUnit,
  previous: PreviousTarget = () => null,
): Map<string, Connected> {
  const connected = new Map<string, Connected>();
  for (const instance of inOrder(structure, instances))
    connected.set(instance.id, { instance, relationships: [] });
  for (const unit of structure.units.values()) {
    const own = instances.get(unit)!;
    if (unit.isGroup || own.length === 0) continue;
    for (const edge of unit.edges) connectEdge(structure, instances, unit, edge, own, connected, previous);
  }
  return connected;
}

function connectEdge(
  structure: Structure,
  instances: InstancesByUnit,
  unit: Unit,
  edge: Edge,
  own: readonly Instance[],
  connected: Map<string, Connected>,
  previous: PreviousTarget,
): void {
  const target = structure.units.get(edge.target);
  if (!target) return;
  const add = (source: Instance, to: string): void => {
    connected
      .get(source.id)!
      .relationships.push({ type: edge.type, target_name: edge.target, target_id: to });
  };
  if (edge.kind === 'contained') {
    for (const source of own) {
      const container = source.parent && ancestor(source.parent, target);
      if (container) add(source, container.id);
    }
    return;
  }
  const targets = instances.get(target)!;
  if (targets.length === 0) return;
  const group = sharedGroup(unit, target);
  if (edge.kind === 'all_to_one') {
    if (group)
      fail(
        'all_to_one_in_group',
        `"${unit.name}" is connected all_to_one to "${target.name}" inside the scaling group "${group.name}"`,
        { path: `node_templates.${unit.name}.relationships[${edge.index}]`, expected: 'all_to_all' },
      );
    const chosen = previous(unit, edge, targets) ?? smallestId(targets);
    for (const source of own) add(source, chosen);
    return;
  }
  if (group) {
    const byGroup = new Map<Instance | null, Instance[]>();
    for (const to of targets) {
      const at = ancestor(to, group);
      const list = byGroup.get(at);
      if (list) list.push(to);
      else byGroup.set(at, [to]);
    }
    for (const source of own) for (const to of byGroup.get(ancestor(source, group)) ?? []) add(source, to.id);
    return;
  }
  if (own.length * targets.length > MAX_INSTANCES)
    fail('limit_exceeded', `"${unit.name}" and "${target.name}" make too many relationships`, {
      path: `node_templates.${unit.name}`,
      expected: `at most ${MAX_INSTANCES}`,
    });
  for (const source of own) for (const to of targets) add(source, to.id);
}

function smallestId(instances: readonly Instance[]): string {
  let smallest = instances[0]!.id;
  for (const { id } of instances) if (id < smallest) smallest = id;
  return smallest;
}

/** Returns a node instance in the form of the plan. */
export function toNodeInstance({ instance, relationships }: Connected): NodeInstance {
  const { unit, id, hostId } = instance;
  const groups: { name: string; id: string }[] = [];
  for (let at = instance.parent; at?.unit.isGroup; at = at.parent)
    groups.push({ name: at.unit.name, id: at.id });
  return {
    name: unit.name,
    node_id: unit.name,
    id,
    ...(hostId === null ? {} : { host_id: hostId }),
    ...(groups.length === 0 ? {} : { scaling_groups: groups }),
    relationships,
  };
}
