import type { ParsedPlan, PlanNode, UpdateStep } from '@baton/dsl';
import type { Json } from '@baton/kernel';

/**
 * The effect of a change on node instances, as far as the plans show it; flags of the update and the results of drift checks may
 * reduce it. `check`: the operation check_drift decides at run time whether anything is done. `none`: no resource is touched.
 * `refused`: an update cannot make this change, and fails.
 */
export type ChangeEffect =
  | 'install'
  | 'uninstall'
  | 'establish'
  | 'unlink'
  | 'check'
  | 'update'
  | 'reinstall'
  | 'none'
  | 'refused';

/** One step of an update with the values before and after. */
export interface UpdateChange {
  action: UpdateStep['action'];
  entity_type: UpdateStep['entity_type'];
  /** The node of the change; null: the deployment itself. */
  node_id: string | null;
  /** Path below the node, or below the plan. */
  path: string[];
  /** Value before; null: there was none. `after`: null when none is left. For nodes and relationships: their types and targets. */
  before: Json;
  after: Json;
  effect: ChangeEffect;
}

type Plan = Pick<ParsedPlan, 'nodes' | 'outputs' | 'workflows' | 'groups' | 'description'>;

const LIFECYCLE = 'cloudify.interfaces.lifecycle';
/** An instance is updated in place if it has one of these operations (reference/workflows.md 1.13). */
const UPDATING = ['update', 'update_config', 'update_apply'];

/** Returns a change for every step from one plan to another, in the order of the steps. */
export function describeChanges(before: Plan, after: Plan, steps: readonly UpdateStep[]): UpdateChange[] {
  const old = new Map(before.nodes.map((node) => [node.id, node]));
  const now = new Map(after.nodes.map((node) => [node.id, node]));
  return steps.map((step) => {
    const { action, entity_type, entity_id: at } = step;
    const nodeId = nodeOf(at);
    const was = nodeId === null ? undefined : old.get(nodeId);
    const is = nodeId === null ? undefined : now.get(nodeId);
    const values =
      nodeId === null ? { before: entryOf(before, at), after: entryOf(after, at) } : valuesOf(step, was, is);
    return {
      action,
      entity_type,
      node_id: nodeId,
      path: nodeId === null ? [...at] : at[0] === 'nodes' ? at.slice(2) : [at[0]!, ...at.slice(2)],
      before: action === 'add' ? null : values.before,
      after: action === 'remove' ? null : values.after,
      effect: step.isSupported ? effectOf(step, is) : 'refused',
    };
  });
}

const NODE_LISTS = ['nodes', 'plugins', 'plugins_to_install'];

const nodeOf = ([first, second]: readonly string[]): string | null =>
  NODE_LISTS.includes(first!) ? (second ?? null) : null;

/** Returns an entry of a plan outside of its nodes: `description`, `outputs.<name>` and the like. */
function entryOf(plan: Plan, [list, name]: readonly string[]): Json {
  const found = plan[list as keyof Plan] as unknown as Json | undefined;
  return (name === undefined ? found : own(found, name)) ?? null;
}

function own(object: unknown, key: string): Json | undefined {
  const isThere = typeof object === 'object' && object !== null && Object.hasOwn(object, key);
  return isThere ? (object as Record<string, Json>)[key] : undefined;
}

type Values = Pick<UpdateChange, 'before' | 'after'>;

/** Returns the values of a step that belongs to a node, from the old and the new node. */
function valuesOf(
  { entity_id: at }: UpdateStep,
  was: PlanNode | undefined,
  is: PlanNode | undefined,
): Values {
  const [list, , part, name] = at;
  if (list !== 'nodes') return { before: pluginOf(was, list!, part!), after: pluginOf(is, list!, part!) };
  if (part === undefined) return { before: summaryOf(was), after: summaryOf(is) };
  if (part === 'relationships') return relationshipValues(at, was, is);
  return { before: within(was, part, name!), after: within(is, part, name!) };
}

const within = (node: PlanNode | undefined, part: string, name: string): Json =>
  own(own(node, part), name) ?? null;

const summaryOf = (node: PlanNode | undefined): Json =>
  node === undefined ? null : { type: node.type, properties: node.properties };

function pluginOf(node: PlanNode | undefined, list: string, name: string): Json {
  const plugins = (own(node, list) ?? []) as unknown as { name: string }[];
  return (plugins.find((plugin) => plugin.name === name) as unknown as Json) ?? null;
}

/**
 * Returns the values of a relationship. Its path is `nodes.<id>.relationships.<number>`, followed by `.<side>.<name>` for an
 * operation; a relationship that moves has the old number before the new one. For a removed relationship the number is that of the
 * old plan, otherwise that of the new plan.
 */
function relationshipValues(
  [, , , first, second, name]: readonly string[],
  was: PlanNode | undefined,
  is: PlanNode | undefined,
): Values {
  const isMove = second !== undefined && /^\d+$/.test(second);
  if (second === undefined || isMove) {
    const to = isMove ? second : first!;
    return { before: linkOf(was, Number(first)), after: linkOf(is, Number(to)) };
  }
  const after = is?.relationships[Number(first)];
  const before = was && is && after ? sameIn(was, is, Number(first)) : undefined;
  const valueIn = (relationship: unknown) => own(own(relationship, second), name!) ?? null;
  return { before: valueIn(before), after: valueIn(after) };
}

function linkOf(node: PlanNode | undefined, index: number): Json {
  const found = node?.relationships[index];
  return found ? { type: found.type, target_id: found.target_id } : null;
}

/**
 * Finds the relationship of `was` that corresponds to the one at `index` of `is`: the same type and target, and the n-th of
 * several.
 */
function sameIn(was: PlanNode, is: PlanNode, index: number) {
  const { type, target_id } = is.relationships[index]!;
  const isAlike = (one: { type: string; target_id: string }) =>
    one.type === type && one.target_id === target_id;
  const nth = is.relationships.slice(0, index).filter(isAlike).length;
  return was.relationships.filter(isAlike)[nth];
}

function effectOf({ action, entity_type }: UpdateStep, node: PlanNode | undefined): ChangeEffect {
  if (entity_type === 'node') return action === 'add' ? 'install' : 'uninstall';
  if (entity_type === 'relationship')
    return action === 'add' ? 'establish' : action === 'remove' ? 'unlink' : 'none';
  if (entity_type !== 'property' && entity_type !== 'operation') return 'none';
  if (hasOperation(node, 'check_drift')) return 'check';
  return UPDATING.some((name) => hasOperation(node, name)) ? 'update' : 'reinstall';
}

/** Whether the node has an implementation of a lifecycle operation. */
function hasOperation(node: PlanNode | undefined, name: string): boolean {
  const found = own(node?.operations, `${LIFECYCLE}.${name}`) as { operation?: unknown } | undefined;
  return typeof found?.operation === 'string' && found.operation !== '';
}
