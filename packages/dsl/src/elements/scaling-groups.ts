import { setOwn } from '../yaml/node';
import type { ElementContext } from './element-context';
import type { PlanScalingGroup } from './groups';
import { containerOf, type ParsedNode } from './node-templates';

type Groups = Readonly<Record<string, PlanScalingGroup>>;

/**
 * Checks scaling groups (E200, E201, E202) and removes members that are contained in another member: these follow their
 * container (reference 2.10).
 */
export function checkScalingGroups(
  context: ElementContext,
  groups: Groups,
  nodes: ReadonlyMap<string, ParsedNode>,
): Record<string, PlanScalingGroup> {
  const parents = findParents(context, groups);
  if (parents === null) return { ...groups };
  const containment = new Containment(nodes);
  checkMixed(context, groups, parents, containment);
  return prune(groups, parents, containment);
}

/** Returns the group of each member; null when the groups form no forest, which is reported. */
function findParents(context: ElementContext, groups: Groups): Map<string, string> | null {
  const parents = new Map<string, string>();
  let isForest = true;
  for (const [group, { members }] of Object.entries(groups)) {
    for (const member of members) {
      const other = parents.get(member);
      if (other !== undefined) {
        reportAt(
          context,
          group,
          'member_in_several_groups',
          `"${member}" is a member of the scaling groups "${other}" and "${group}"`,
          'one scaling group for each member',
        );
        isForest = false;
      }
      parents.set(member, group);
    }
  }
  const done = new Set<string>();
  for (const start of Object.keys(groups)) {
    const path: string[] = [];
    let current: string | undefined = start;
    while (current !== undefined && !done.has(current) && !path.includes(current)) {
      path.push(current);
      current = parents.get(current);
      if (path.length > MAX_GROUP_DEPTH) break;
    }
    if (current !== undefined && path.includes(current)) {
      const cycle = [...path.slice(path.indexOf(current)), current];
      reportAt(
        context,
        current,
        'group_cycle',
        `groups: ${cycle.join(' -> ')} is a circle`,
        'groups that do not contain each other',
        cycle,
      );
      isForest = false;
    } else if (path.length > MAX_GROUP_DEPTH) {
      reportAt(
        context,
        start,
        'limit_exceeded',
        'groups contain each other too deeply',
        `at most ${MAX_GROUP_DEPTH} levels`,
      );
      isForest = false;
    }
    for (const name of path) done.add(name);
  }
  return isForest ? parents : null;
}

const MAX_GROUP_DEPTH = 200;

function reportAt(
  context: ElementContext,
  group: string,
  kind: 'group_cycle' | 'member_in_several_groups' | 'mixed_group_members' | 'limit_exceeded',
  message: string,
  expected: string,
  cycle?: string[],
): void {
  const section = context.root.get('groups');
  const at = section?.kind === 'map' ? section.entry(group)?.key : undefined;
  context.diagnostics.report(kind, message, {
    at,
    path: `groups.${group}`,
    checkedAt: 'policies',
    expected,
    ...(cycle ? { cycle } : {}),
  });
}

/** Containment of nodes, from contained_in relationships. */
class Containment {
  private readonly roots = new Map<string, string>();

  constructor(private readonly nodes: ReadonlyMap<string, ParsedNode>) {}

  containers(name: string): string[] {
    const result: string[] = [];
    const seen = new Set([name]);
    for (let at = this.container(name); at !== undefined && !seen.has(at); at = this.container(at)) {
      seen.add(at);
      result.push(at);
    }
    return result;
  }

  container(name: string): string | undefined {
    const node = this.nodes.get(name);
    return node && containerOf(node);
  }

  /** Returns the outermost container, or the node itself. */
  root(name: string): string {
    let root = this.roots.get(name);
    if (root === undefined) this.roots.set(name, (root = this.containers(name).at(-1) ?? name));
    return root;
  }
}

function ancestorGroups(name: string, parents: ReadonlyMap<string, string>): string[] {
  const result: string[] = [];
  for (let at = parents.get(name); at !== undefined; at = parents.get(at)) result.push(at);
  return result;
}

/** Members inside a node cannot scale together with members outside it, unless that node is itself in a group with the others. */
function checkMixed(
  context: ElementContext,
  groups: Groups,
  parents: ReadonlyMap<string, string>,
  containment: Containment,
): void {
  const membersOf = new Map<string, { name: string; root: string }[]>();
  for (const name of parents.keys()) {
    if (Object.hasOwn(groups, name)) continue;
    const member = { name, root: containment.root(name) };
    for (const group of ancestorGroups(name, parents)) {
      const list = membersOf.get(group);
      if (list) list.push(member);
      else membersOf.set(group, [member]);
    }
  }
  for (const [group, members] of membersOf) {
    const contained = members.find((m) => m.root !== m.name);
    if (!contained) continue;
    const around = new Set(ancestorGroups(contained.root, parents));
    const other = members.find(
      (m) =>
        m.root !== contained.root &&
        (m.root !== m.name || !ancestorGroups(m.name, parents).some((g) => around.has(g))),
    );
    if (!other) continue;
    reportAt(
      context,
      group,
      'mixed_group_members',
      `"${contained.name}" is contained in "${contained.root}", "${other.name}" of the same scaling group is not`,
      'members that share a container, or that have none',
    );
  }
}

function prune(
  groups: Groups,
  parents: ReadonlyMap<string, string>,
  containment: Containment,
): Record<string, PlanScalingGroup> {
  const removed = new Map<string, Set<string>>();
  for (const member of parents.keys()) {
    if (Object.hasOwn(groups, member)) continue;
    const own = ancestorGroups(member, parents);
    for (const container of containment.containers(member)) {
      const theirs = new Set(ancestorGroups(container, parents));
      const shared = own.find((g) => theirs.has(g));
      if (shared === undefined) continue;
      const at = own.indexOf(shared);
      const set = removed.get(shared) ?? new Set();
      set.add(at === 0 ? member : own[at - 1]!);
      removed.set(shared, set);
    }
  }
  const result: Record<string, PlanScalingGroup> = {};
  for (const [name, group] of Object.entries(groups)) {
    const gone = removed.get(name);
    setOwn(result, name, gone ? { ...group, members: group.members.filter((m) => !gone.has(m)) } : group);
  }
  return result;
}
