import { isJsonObject, type Json, type JsonObject } from '@baton/kernel';
import { isSame } from '../constraints/check-value';
import type { ParsedPlan, PlanNode, PlanPlugin, PlanRelationship } from '../plan/plan';

/** One change between two plans (reference 8). */
export interface UpdateStep {
  action: 'add' | 'remove' | 'modify';
  entity_type:
    | 'description'
    | 'node'
    | 'operation'
    | 'relationship'
    | 'property'
    | 'output'
    | 'workflow'
    | 'group'
    | 'plugin';
  entity_id: string[];
  /** Order among added nodes: read from the highest down, required nodes come first. */
  topology_order: number;
  isSupported: boolean;
}

type ComparedPlan = Pick<ParsedPlan, 'nodes' | 'outputs' | 'workflows' | 'groups' | 'description'>;

const CONTAINED_IN = 'cloudify.relationships.contained_in';

/**
 * Returns the steps from one plan to another, in the order of execution. `unsupported`: the steps that an update cannot
 * carry out; with one of them the update fails.
 */
export function updateSteps(
  oldPlan: ComparedPlan,
  newPlan: ComparedPlan,
): { steps: UpdateStep[]; unsupported: UpdateStep[] } {
  const steps: UpdateStep[] = [];
  if ((oldPlan.description ?? null) !== (newPlan.description ?? null))
    steps.push(step('modify', 'description', ['description']));
  for (const list of ['plugins_to_install', 'plugins'] as const)
    comparePlugins(list, oldPlan.nodes, newPlan.nodes, steps);
  compareNodes(oldPlan.nodes, newPlan.nodes, steps);
  compareEntries(oldPlan.outputs, newPlan.outputs, 'output', ['outputs'], steps);
  compareEntries(asJson(oldPlan.workflows), asJson(newPlan.workflows), 'workflow', ['workflows'], steps);
  compareEntries(
    withSortedMembers(asJson(oldPlan.groups)),
    withSortedMembers(asJson(newPlan.groups)),
    'group',
    ['groups'],
    steps,
    false,
  );
  // Unsupported steps are placed where they do not change the order of the others.
  const supported = orderSteps(steps.filter((s) => s.isSupported));
  const unsupported = steps.filter((s) => !s.isSupported);
  return { steps: [...supported, ...unsupported], unsupported };
}

function step(
  action: UpdateStep['action'],
  entity_type: UpdateStep['entity_type'],
  entity_id: (string | number)[],
  isSupported = true,
  topology_order = 0,
): UpdateStep {
  return { action, entity_type, entity_id: entity_id.map(String), topology_order, isSupported };
}

const asJson = (value: unknown): JsonObject => (value ?? {}) as JsonObject;

function withSortedMembers(groups: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => [
      name,
      isJsonObject(group) && Array.isArray(group.members)
        ? { ...group, members: [...group.members].sort() }
        : group,
    ]),
  );
}

function compareEntries(
  before: JsonObject | undefined,
  after: JsonObject | undefined,
  type: UpdateStep['entity_type'],
  prefix: (string | number)[],
  steps: UpdateStep[],
  isSupported = true,
): void {
  const old = before ?? {};
  const now = after ?? {};
  if (old === now) return;
  for (const name of Object.keys(now)) {
    if (!Object.hasOwn(old, name)) steps.push(step('add', type, [...prefix, name], isSupported));
    else if (!isSame(old[name]!, now[name]!))
      steps.push(step('modify', type, [...prefix, name], isSupported));
  }
  for (const name of Object.keys(old))
    if (!Object.hasOwn(now, name)) steps.push(step('remove', type, [...prefix, name], isSupported));
}

function containerOf(node: PlanNode): string | null {
  return node.relationships.find((r) => r.type_hierarchy.includes(CONTAINED_IN))?.target_id ?? null;
}

function compareNodes(before: readonly PlanNode[], after: readonly PlanNode[], steps: UpdateStep[]): void {
  const old = new Map(before.map((n) => [n.id, n]));
  const now = new Map(after.map((n) => [n.id, n]));
  const added = after.filter((n) => !old.has(n.id));
  const order = topologyOrder(added);
  for (const node of after) {
    const was = old.get(node.id);
    if (was === undefined) {
      steps.push(step('add', 'node', ['nodes', node.id], true, order.get(node.id)!));
      continue;
    }
    if (was.type !== node.type || containerOf(was) !== containerOf(node)) {
      steps.push(step('modify', 'node', ['nodes', node.id], false));
      continue;
    }
    compareEntries(was.operations, node.operations, 'operation', ['nodes', node.id, 'operations'], steps);
    compareRelationships(node.id, was.relationships, node.relationships, steps);
    compareEntries(was.properties, node.properties, 'property', ['nodes', node.id, 'properties'], steps);
  }
  for (const node of before) if (!now.has(node.id)) steps.push(step('remove', 'node', ['nodes', node.id]));
}

/** Identifies relationships by type and target, and equal ones by their number. */
function identities(relationships: readonly PlanRelationship[]): Map<string, number> {
  const counts = new Map<string, number>();
  const result = new Map<string, number>();
  relationships.forEach((r, index) => {
    const key = JSON.stringify([r.type, r.target_id]);
    const count = counts.get(key) ?? 0;
    counts.set(key, count + 1);
    result.set(`${key} ${count}`, index);
  });
  return result;
}

function compareRelationships(
  node: string,
  before: readonly PlanRelationship[],
  after: readonly PlanRelationship[],
  steps: UpdateStep[],
): void {
  const old = identities(before);
  const now = identities(after);
  const path = ['nodes', node, 'relationships'];
  for (const [key, index] of now) {
    const was = old.get(key);
    if (was === undefined) {
      steps.push(step('add', 'relationship', [...path, index]));
      continue;
    }
    if (was !== index) steps.push(step('modify', 'relationship', [...path, was, index]));
    for (const side of ['source_operations', 'target_operations'] as const) {
      compareEntries(before[was]![side], after[index]![side], 'operation', [...path, index, side], steps);
    }
    compareEntries(
      before[was]!.properties,
      after[index]!.properties,
      'property',
      [...path, index, 'properties'],
      steps,
      false,
    );
  }
  for (const [key, index] of old)
    if (!now.has(key)) steps.push(step('remove', 'relationship', [...path, index]));
}

/** Compares plugins: adds steps for new and changed plugins of a node; plugins that are no longer needed stay. */
function comparePlugins(
  list: 'plugins' | 'plugins_to_install',
  before: readonly PlanNode[],
  after: readonly PlanNode[],
  steps: UpdateStep[],
): void {
  const oldNodes = new Map(before.map((n) => [n.id, n]));
  const keyOf = (p: PlanPlugin): string => `${p.name}\n${p.executor}`;
  for (const node of after) {
    const wasNode = oldNodes.get(node.id);
    if (wasNode === undefined || wasNode[list] === node[list]) continue;
    const old = new Map((wasNode[list] ?? []).map((p) => [keyOf(p), p]));
    for (const plugin of node[list] ?? []) {
      const was = old.get(keyOf(plugin));
      if (was === undefined) steps.push(step('add', 'plugin', [list, node.id, plugin.name]));
      else if (!isSame(was as unknown as Json, plugin as unknown as Json))
        steps.push(step('modify', 'plugin', [list, node.id, plugin.name]));
    }
  }
}

/** Returns the positions of added nodes; each comes before the nodes that it points to. */
function topologyOrder(added: readonly PlanNode[]): Map<string, number> {
  const nodes = new Map(added.map((n) => [n.id, n]));
  const incoming = new Map<string, number>(added.map((n) => [n.id, 0]));
  for (const node of added)
    for (const r of node.relationships)
      if (nodes.has(r.target_id)) incoming.set(r.target_id, incoming.get(r.target_id)! + 1);
  const ready = added.filter((n) => incoming.get(n.id) === 0);
  const order = new Map<string, number>();
  for (let i = 0; i < ready.length; i++) {
    const node = ready[i]!;
    order.set(node.id, i);
    for (const { target_id } of node.relationships) {
      if (!nodes.has(target_id)) continue;
      const left = incoming.get(target_id)! - 1;
      incoming.set(target_id, left);
      if (left === 0) ready.push(nodes.get(target_id)!);
    }
  }
  return order;
}

const ACTIONS = ['remove', 'add', 'modify'];

/** Removals, then additions, then changes; relationships are removed before nodes and added after them. */
function isBefore(a: UpdateStep, b: UpdateStep): boolean {
  if (a.action !== b.action) return ACTIONS.indexOf(a.action) < ACTIONS.indexOf(b.action);
  if (a.action === 'remove') return a.entity_type === 'relationship' && b.entity_type === 'node';
  if (a.action !== 'add' || a.entity_type !== 'node') return false;
  return (
    b.entity_type === 'relationship' || (b.entity_type === 'node' && a.topology_order > b.topology_order)
  );
}

/**
 * `isBefore` leaves most pairs unordered, so the result depends on the sequence of comparisons. This sequence (each
 * step by binary search among the steps before it) gives the order that users know from the original.
 */
function orderSteps(steps: readonly UpdateStep[]): UpdateStep[] {
  const sorted = beginning(steps);
  for (const one of steps.slice(sorted.length)) {
    let [from, to] = [0, sorted.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (isBefore(one, sorted[middle]!)) to = middle;
      else from = middle + 1;
    }
    sorted.splice(from, 0, one);
  }
  return sorted;
}

/** Returns the longest ascending or descending beginning, in ascending order. */
function beginning(steps: readonly UpdateStep[]): UpdateStep[] {
  const isDescending = steps.length > 1 && isBefore(steps[1]!, steps[0]!);
  let end = 1;
  while (end < steps.length && isBefore(steps[end]!, steps[end - 1]!) === isDescending) end++;
  const run = steps.slice(0, end);
  return isDescending ? run.reverse() : run;
}
