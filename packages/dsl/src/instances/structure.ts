import type { Json } from '@baton/kernel';
import { fail } from '../diagnostics/dsl-error';
import type { PlanNode, PlanScalingGroup } from '../plan/plan';

/** The base of instances: nodes and scaling groups as units of one containment forest (reference 7.1). */
export interface Unit {
  name: string;
  isGroup: boolean;
  isHost: boolean;
  /** Instances per instance of the parent. */
  count: number;
  parent: Unit | null;
  children: Unit[];
  node: PlanNode | null;
  /** One edge per target: a later relationship replaces an earlier one. */
  edges: Edge[];
}

export interface Edge {
  type: string;
  target: string;
  /** Position among the relationships of the template. */
  index: number;
  kind: 'contained' | 'all_to_all' | 'all_to_one';
}

export interface Structure {
  units: Map<string, Unit>;
  roots: Unit[];
}

const BASES = [
  'cloudify.relationships.depends_on',
  'cloudify.relationships.contained_in',
  'cloudify.relationships.connected_to',
];
const CONTAINED_IN = 'cloudify.relationships.contained_in';

export type ScaledNode = Pick<PlanNode, 'id' | 'name' | 'relationships'> & Partial<PlanNode>;
export type ScalingGroups = Readonly<Record<string, PlanScalingGroup>>;

function edgesOf(node: ScaledNode): Edge[] {
  const byTarget = new Map<string, Edge>();
  (node.relationships ?? []).forEach((relationship, index) => {
    const hierarchy = relationship.type_hierarchy ?? [relationship.type];
    const where = { path: `node_templates.${node.name}.relationships[${index}]`, value: relationship.type };
    if (!hierarchy.some((t) => BASES.includes(t))) {
      fail(
        'unsupported_relationship',
        `the relationship "${relationship.type}" of "${node.name}" is derived from none of ${BASES.join(', ')}`,
        { ...where, expected: `a type derived from one of ${BASES.join(', ')}` },
      );
    }
    byTarget.delete(relationship.target_id);
    byTarget.set(relationship.target_id, {
      type: relationship.type,
      target: relationship.target_id,
      index,
      kind: kindOf(relationship.properties?.connection_type, hierarchy, node.name, where),
    });
  });
  return [...byTarget.values()].sort((a, b) => a.index - b.index);
}

function kindOf(
  connection: Json | undefined,
  hierarchy: readonly string[],
  node: string,
  where: { path: string },
): Edge['kind'] {
  if (hierarchy.includes(CONTAINED_IN)) return 'contained';
  if (connection === 'all_to_all' || connection === 'all_to_one') return connection;
  return fail(
    'bad_connection_type',
    `a relationship of "${node}" has the connection_type ${JSON.stringify(connection ?? null)}`,
    { path: where.path, value: connection ?? null, expected: 'all_to_all or all_to_one' },
  );
}

function countOf(properties: { current_instances?: Json } | undefined, name: string): number {
  const count = properties?.current_instances ?? 1;
  if (typeof count === 'number' && Number.isInteger(count)) return Math.max(0, count);
  return fail('bad_instances', `the number of instances of "${name}" is ${JSON.stringify(count)}`, {
    value: count,
    expected: 'an integer',
  });
}

/**
 * Builds the containment forest of nodes and groups: a grouped node is below its group, and a group takes the place of
 * its members.
 */
export function buildStructure(nodes: readonly ScaledNode[], groups: ScalingGroups): Structure {
  const units = new Map<string, Unit>();
  for (const node of nodes) {
    units.set(node.name, {
      name: node.name,
      isGroup: false,
      isHost: node.host_id !== undefined && node.host_id === node.id,
      parent: null,
      children: [],
      count: countOf(node.capabilities?.scalable?.properties, node.name),
      node: node as PlanNode,
      edges: edgesOf(node),
    });
  }
  for (const name of Object.keys(groups)) {
    units.set(name, {
      name,
      isGroup: true,
      isHost: false,
      parent: null,
      children: [],
      count: countOf(groups[name]!.properties, name),
      node: null,
      edges: [],
    });
  }
  const groupOf = new Map<string, string>();
  for (const [name, { members }] of Object.entries(groups))
    for (const member of members) if (units.has(member)) groupOf.set(member, name);
  const outermost = (name: string): string => {
    let at = name;
    for (let i = 0; groupOf.has(at) && i <= groupOf.size; i++) at = groupOf.get(at)!;
    return at;
  };
  const parentOf = new Map(groupOf);
  for (const unit of units.values()) {
    const container = unit.edges.find((e) => e.kind === 'contained')?.target;
    if (container === undefined || !units.has(container)) continue;
    const child = groupOf.has(unit.name) ? outermost(unit.name) : unit.name;
    if (!parentOf.has(child)) parentOf.set(child, container);
  }
  link(units, parentOf);
  return { units, roots: [...units.values()].filter((u) => u.parent === null) };
}

function link(units: Map<string, Unit>, parentOf: ReadonlyMap<string, string>): void {
  for (const unit of units.values()) {
    const parent = units.get(parentOf.get(unit.name) ?? '');
    if (!parent) continue;
    unit.parent = parent;
    parent.children.push(unit);
  }
}

/** Returns the innermost group above both units, on any level of containment; null when there is none. */
export function sharedGroup(a: Unit, b: Unit): Unit | null {
  const above = new Set<Unit>();
  for (let at: Unit | null = a.parent; at; at = at.parent) if (at.isGroup) above.add(at);
  if (above.size === 0) return null;
  for (let at: Unit | null = b.parent; at; at = at.parent) if (above.has(at)) return at;
  return null;
}
