import type { Diagnostic } from '../diagnostics/diagnostic';
import { DslError, fail } from '../diagnostics/dsl-error';
import type { InstanceRelationship, NodeInstance } from '../plan/plan';
import { IdMint, type Random } from './ids';
import { buildStructure, type ScaledNode, type ScalingGroups, type Structure, type Unit } from './structure';
import { connect, growForest, type Instance, toNodeInstance } from './tree';

export interface ModifyRequest {
  nodes: readonly ScaledNode[];
  previousNodes: readonly ScaledNode[];
  previousInstances: readonly NodeInstance[];
  /** Node or group name -> number of instances per instance of its container, and hints for the removal. */
  modifiedNodes: Readonly<
    Record<
      string,
      {
        instances?: number;
        removed_ids_include_hint?: readonly string[];
        removed_ids_exclude_hint?: readonly string[];
      }
    >
  >;
  scalingGroups: ScalingGroups;
  previousScalingGroups?: ScalingGroups;
  random: Random;
}

export type ChangedInstance = NodeInstance & { modification?: 'added' | 'removed' | 'extended' | 'reduced' };

export interface Modification {
  added_and_related: ChangedInstance[];
  extended_and_related: ChangedInstance[];
  reduced_and_related: ChangedInstance[];
  removed_and_related: ChangedInstance[];
}

export type Modified = { ok: true; value: Modification } | { ok: false; error: Diagnostic };

/** Returns the effect of scaling or an update on the instances of a deployment (reference 7.2). */
export function modifyInstances(request: ModifyRequest): Modified {
  try {
    return { ok: true, value: modify(request) };
  } catch (error) {
    if (error instanceof DslError) return { ok: false, error: error.diagnostic };
    throw error;
  }
}

function modify(request: ModifyRequest): Modification {
  const { previousInstances, scalingGroups, random } = request;
  const structure = buildStructure(request.nodes, scalingGroups);
  const previous = new Previous(structure, previousInstances);
  const mint = new IdMint(previous.takenIds(), random);
  const before = new Set(request.previousNodes.map((n) => n.name));
  const instances = growForest(structure, mint, (unit, parent) =>
    plan(unit, parent, previous, before, request.modifiedNodes),
  );
  const connected = connect(structure, instances, (source, edge, targets) =>
    previousTarget(previous, source, edge.target, edge.type, targets),
  );
  const after = new Map<string, NodeInstance>();
  for (const [id, c] of connected) after.set(id, toNodeInstance(c));
  return compareInstances(new Map(previousInstances.map((i) => [i.id, i])), after);
}

/** The previous instances, below their containers. */
class Previous {
  private readonly byUnitAndParent = new Map<string, string[]>();
  private readonly members = new Map<string, Set<string>>();
  readonly instances: ReadonlyMap<string, NodeInstance>;
  readonly byNode = new Map<string, NodeInstance[]>();

  constructor(structure: Structure, instances: readonly NodeInstance[]) {
    this.instances = new Map(instances.map((i) => [i.id, i]));
    const seen = new Set<string>();
    for (const instance of instances) {
      const list = this.byNode.get(instance.node_id);
      if (list) list.push(instance);
      else this.byNode.set(instance.node_id, [instance]);
      const unit = structure.units.get(instance.node_id);
      if (unit) this.place(unit, instance, seen);
    }
  }

  /** Puts an instance and its group instances below their parents. */
  private place(unit: Unit, instance: NodeInstance, seen: Set<string>): void {
    let current: Unit = unit;
    let id = instance.id;
    for (;;) {
      const parent: Unit | null = current.parent;
      const parentId =
        parent === null
          ? ''
          : parent.isGroup
            ? this.groupInstance(instance, parent.name)
            : this.containerOf(instance, parent);
      // an instance whose container has another type now cannot stay
      if (parentId === null) return;
      if (current.isGroup) this.addMember(id, instance.id);
      const key = `${current.name}\n${parentId}`;
      if (!seen.has(`${key}\n${id}`)) {
        seen.add(`${key}\n${id}`);
        const list = this.byUnitAndParent.get(key);
        if (list) list.push(id);
        else this.byUnitAndParent.set(key, [id]);
      }
      if (!parent?.isGroup) return;
      current = parent;
      id = parentId;
    }
  }

  private addMember(group: string, instance: string): void {
    const set = this.members.get(group);
    if (set) set.add(instance);
    else this.members.set(group, new Set([instance]));
  }

  private groupInstance(instance: NodeInstance, group: string): string | null {
    return instance.scaling_groups?.find((g) => g.name === group)?.id ?? null;
  }

  private containerOf(instance: NodeInstance, parent: Unit): string | null {
    return instance.relationships.find((r) => r.target_name === parent.name)?.target_id ?? null;
  }

  below(unit: Unit, parent: Instance | null): readonly string[] {
    return this.byUnitAndParent.get(`${unit.name}\n${parent?.id ?? ''}`) ?? [];
  }

  /** Whether a hint names the instance, or for a group instance one of its members. */
  isHinted(id: string, hints: ReadonlySet<string>): boolean {
    if (hints.size === 0) return false;
    if (hints.has(id)) return true;
    const members = this.members.get(id);
    return members !== undefined && [...members].some((m) => hints.has(m));
  }

  takenIds(): Set<string> {
    const taken = new Set(this.instances.keys());
    for (const { scaling_groups } of this.instances.values())
      for (const group of scaling_groups ?? []) taken.add(group.id);
    return taken;
  }
}

function plan(
  unit: Unit,
  parent: Instance | null,
  previous: Previous,
  before: ReadonlySet<string>,
  modified: ModifyRequest['modifiedNodes'],
): { kept: readonly string[]; added: number } {
  const ids = parent?.isNew || (!unit.isGroup && !before.has(unit.name)) ? [] : previous.below(unit, parent);
  const change = Object.hasOwn(modified, unit.name) ? modified[unit.name] : undefined;
  const wanted = change?.instances;
  if (wanted === undefined) return { kept: ids, added: Math.max(0, unit.count - ids.length) };
  if (wanted >= ids.length) return { kept: ids, added: wanted - ids.length };
  const include = new Set(change!.removed_ids_include_hint ?? []);
  const exclude = new Set(change!.removed_ids_exclude_hint ?? []);
  const rank = (id: string): number =>
    previous.isHinted(id, include) ? 0 : previous.isHinted(id, exclude) ? 2 : 1;
  const removed = new Set([...ids].sort((a, b) => rank(a) - rank(b)).slice(0, ids.length - wanted));
  return { kept: ids.filter((id) => !removed.has(id)), added: 0 };
}

/** Returns the previous target of an all_to_one relationship, as long as it exists. */
function previousTarget(
  previous: Previous,
  source: Unit,
  target: string,
  type: string,
  targets: readonly Instance[],
): string | null {
  const used = new Set<string>();
  for (const instance of previous.byNode.get(source.name) ?? []) {
    for (const r of instance.relationships)
      if (r.target_name === target && r.type === type) used.add(r.target_id);
  }
  if (used.size === 0) return null;
  if (used.size > 1)
    fail(
      'all_to_one_state',
      `"${source.name}" was connected all_to_one to several instances of "${target}"`,
      { value: [...used], expected: 'one target so far' },
    );
  const [id] = used;
  return targets.some((t) => t.id === id) ? id! : null;
}

const keyOf = (r: InstanceRelationship): string => `${r.type}\n${r.target_id}`;

/** Returns the relationships of `a` that `b` does not have. */
function missingIn(a: NodeInstance, b: NodeInstance): InstanceRelationship[] {
  const known = new Set(b.relationships.map(keyOf));
  return a.relationships.filter((r) => !known.has(keyOf(r)));
}

function compareInstances(
  before: ReadonlyMap<string, NodeInstance>,
  after: ReadonlyMap<string, NodeInstance>,
): Modification {
  const added = [...after.values()].filter((i) => !before.has(i.id));
  const removed = [...before.values()].filter((i) => !after.has(i.id));
  const extended: ChangedInstance[] = [];
  const reduced: ChangedInstance[] = [];
  for (const [id, now] of after) {
    const then = before.get(id);
    if (!then) continue;
    const gained = missingIn(now, then);
    const lost = missingIn(then, now);
    if (gained.length > 0) extended.push({ ...now, relationships: gained, modification: 'extended' });
    if (lost.length > 0) reduced.push({ ...then, relationships: lost, modification: 'reduced' });
  }
  return {
    added_and_related: withNeighbours(added, after, 'added'),
    extended_and_related: withTargets(extended, after, added),
    reduced_and_related: withTargets(reduced, before, removed),
    removed_and_related: withNeighbours(removed, before, 'removed'),
  };
}

/** Returns changed instances, and the instances with a relationship to them, with only these relationships. */
function withNeighbours(
  changed: readonly NodeInstance[],
  all: ReadonlyMap<string, NodeInstance>,
  modification: 'added' | 'removed',
): ChangedInstance[] {
  if (changed.length === 0) return [];
  const ids = new Set(changed.map((i) => i.id));
  const result: ChangedInstance[] = changed.map((i) => ({ ...i, modification }));
  const targets = new Set(changed.flatMap((i) => i.relationships.map((r) => r.target_id)));
  for (const instance of all.values()) {
    if (ids.has(instance.id)) continue;
    const relationships = instance.relationships.filter((r) => ids.has(r.target_id));
    if (relationships.length > 0 || targets.has(instance.id)) result.push({ ...instance, relationships });
  }
  return result;
}

/** Returns instances with changed relationships, and the targets of these relationships. */
function withTargets(
  changed: readonly ChangedInstance[],
  all: ReadonlyMap<string, NodeInstance>,
  marked: readonly NodeInstance[],
): ChangedInstance[] {
  if (changed.length === 0) return [];
  const dropped = new Set(marked.map((i) => i.id));
  const ids = new Set(changed.map((i) => i.id));
  const targets = new Set(changed.flatMap((i) => i.relationships.map((r) => r.target_id)));
  const related: ChangedInstance[] = [];
  for (const id of targets) {
    const target = all.get(id);
    if (target && !ids.has(id) && !dropped.has(id)) related.push({ ...target, relationships: [] });
  }
  return [...changed, ...related];
}
