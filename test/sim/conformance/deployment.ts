import {
  emptyResolver,
  modifyInstances,
  type ParsedPlan,
  type NodeInstance as PlanInstance,
  parseBlueprint,
  prepareDeploymentPlan,
  type UpdateStep,
  withBuiltinTypes,
} from '@baton/dsl';
import type { Json, JsonObject } from '@baton/kernel';
import type { DeploymentModel, NodeInstance, PlanNode } from '@baton/task-graph';

export interface PlanWorkflow {
  plugin: string;
  operation: string;
  parameters: { [name: string]: { default?: Json; type?: string; required?: boolean } };
  availability_rules?: JsonObject | null;
}

/** A deployment in memory: its plan, and the model that workflows see. */
export interface Deployment {
  /** The current blueprint. */
  text: string;
  plan: ParsedPlan;
  model: DeploymentModel;
  workflows: Record<string, PlanWorkflow>;
  random: () => number;
  /** The pending part of a modification or update: finish it, or roll it back. */
  pending: { rollback: () => void; finish: () => void } | null;
  /** The steps of the last update. */
  steps: UpdateStep[];
}

export async function planOf(text: string, inputs: JsonObject, taken: string[], random: () => number) {
  const parsed = await parseBlueprint({
    text,
    location: 'file:///scenario/blueprint.yaml',
    resolver: withBuiltinTypes(emptyResolver),
    additionalResourceSources: ['file:///resources/'],
  });
  if (!parsed.plan)
    throw new Error(`the blueprint does not parse: ${parsed.diagnostics.map((d) => d.message).join('; ')}`);
  const prepared = await prepareDeploymentPlan(parsed.plan, { inputs, existingInstanceIds: taken, random });
  if (!prepared.plan)
    throw new Error(`no deployment: ${prepared.diagnostics.map((d) => d.message).join('; ')}`);
  return prepared.plan;
}

/** Creates a deployment. `initialState` is null for the original's in-process engine, which sets no state. */
export async function createDeployment(
  text: string,
  inputs: JsonObject,
  initialState: string | null,
): Promise<Deployment> {
  const random = counter();
  const plan = await planOf(text, inputs, [], random);
  const model: DeploymentModel = {
    nodes: plan.nodes.map((node) => modelNode(node as unknown as PlanNode, countOf(node))),
    nodeInstances: plan.node_instances.map((i) => modelInstance(i, initialState)),
    scalingGroups: plan.scaling_groups as unknown as DeploymentModel['scalingGroups'],
  };
  return {
    text,
    plan,
    model,
    workflows: plan.workflows as unknown as Deployment['workflows'],
    random,
    pending: null,
    steps: [],
  };
}

function counter(): () => number {
  let n = 0;
  return () => (n = (n * 1103515245 + 12345) % 2147483648) / 2147483648;
}

/** Returns the number of instances of the node per instance of its container, according to the plan. */
export function countOf(node: unknown): number {
  const scalable = (node as { capabilities?: { scalable?: { properties?: { current_instances?: number } } } })
    .capabilities?.scalable;
  return scalable?.properties?.current_instances ?? 1;
}

export function modelNode(node: PlanNode, count: number): PlanNode {
  return { ...node, number_of_instances: count };
}

export function modelInstance(instance: PlanInstance, state: string | null): NodeInstance {
  return { ...instance, state, runtime_properties: {}, system_properties: {} };
}

/** Begins a scale: added instances exist immediately; removed ones disappear with `finish`. */
export function startModification(deployment: Deployment, entities: JsonObject): Json {
  const { model, plan } = deployment;
  const counts = new Map(model.nodes.map((n) => [n.id, n.number_of_instances ?? 1]));
  const modified = modifyInstances({
    nodes: plan.nodes,
    previousNodes: plan.nodes,
    previousInstances: model.nodeInstances as unknown as PlanInstance[],
    modifiedNodes: {
      ...Object.fromEntries([...counts].map(([id, instances]) => [id, { instances }])),
      ...entities,
    },
    scalingGroups: plan.scaling_groups,
    random: deployment.random,
  } as Parameters<typeof modifyInstances>[0]);
  if (!modified.ok) throw new Error(modified.error.message);
  const { added_and_related, removed_and_related } = modified.value;
  const ids = (list: readonly { id: string; modification?: string }[], mark: string, isMarked: boolean) =>
    list.filter((i) => (i.modification === mark) === isMarked).map((i) => i.id);
  const added = ids(added_and_related, 'added', true);
  const removed = ids(removed_and_related, 'removed', true);
  const before = structuredClone(model.nodeInstances);
  addInstances(model, added_and_related as unknown as NodeInstance[], new Set(added));
  deployment.pending = {
    finish: () => {
      removeInstances(model, new Set(removed));
      for (const [id, change] of Object.entries(entities)) {
        const { instances } = change as { instances: number };
        const node = model.nodes.find((n) => n.id === id);
        if (node) node.number_of_instances = instances;
        const group = model.scalingGroups?.[id];
        if (group) group.properties.current_instances = instances;
      }
    },
    rollback: () => void (model.nodeInstances = before),
  };
  const related = [...ids(added_and_related, 'added', false), ...ids(removed_and_related, 'removed', false)];
  return { modification_id: 'modification', added, removed, related };
}

function addInstances(
  model: DeploymentModel,
  changed: readonly NodeInstance[],
  added: ReadonlySet<string>,
): void {
  for (const instance of changed) {
    if (added.has(instance.id)) {
      model.nodeInstances.push(modelInstance(instance as unknown as PlanInstance, 'uninitialized'));
      continue;
    }
    const present = model.nodeInstances.find((i) => i.id === instance.id);
    const known = new Set(present?.relationships.map((r) => r.target_id));
    present?.relationships.push(...instance.relationships.filter((r) => !known.has(r.target_id)));
  }
}

export function removeInstances(model: DeploymentModel, gone: ReadonlySet<string>): void {
  model.nodeInstances = model.nodeInstances.filter((i) => !gone.has(i.id));
  for (const i of model.nodeInstances)
    i.relationships = i.relationships.filter((r) => !gone.has(r.target_id));
}
