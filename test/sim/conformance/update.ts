import {
  type Modification,
  modifyInstances,
  type NodeInstance as PlanInstance,
  type PlanNode as PlannedNode,
  updateSteps,
} from '@baton/dsl';
import type { Json, JsonObject } from '@baton/kernel';
import type { NodeInstance, PlanNode } from '@baton/task-graph';
import { mergeRelationships } from '../../../services/deployments/src/domain/modification';
import {
  describeStep,
  gainedRelationships,
  keepCounts,
  keepGroupCounts,
  keepRecord,
  leavingOf,
  recordedNode,
  updateChanges,
} from '../../../services/deployments/src/domain/update-plan';
import { countOf, type Deployment, modelInstance, modelNode, planOf, removeInstances } from './deployment';

/** A deployment update in memory: the decisions of services/deployments, applied to the deployment of a scenario. */

/** Stage A: computes the steps; changes nothing. */
export async function prepareUpdate(
  deployment: Deployment,
  text: string | undefined,
  inputs: JsonObject,
): Promise<Json> {
  const next = await nextPlan(deployment, text, inputs);
  const { steps, unsupported } = updateSteps(
    { ...deployment.plan, nodes: deployment.plan.nodes.map(recordedNode) },
    next,
  );
  deployment.steps = unsupported.length > 0 ? [] : steps;
  return { unsupported: unsupported.map(describeStep) };
}

function nextPlan(deployment: Deployment, text: string | undefined, inputs: JsonObject) {
  const taken = deployment.model.nodeInstances.map((i) => i.id);
  return planOf(text ?? deployment.text, inputs, taken, deployment.random);
}

/** Stage B: puts the plan of the new blueprint in place. Removed parts stay until `pending.finish`. */
export async function performUpdate(
  deployment: Deployment,
  text: string | undefined,
  inputs: JsonObject,
): Promise<Json> {
  const { model, plan } = deployment;
  const next = await nextPlan(deployment, text, inputs);
  const present = model.nodes.map((n) => {
    const count = n.number_of_instances ?? 1;
    return { id: n.id, number_of_instances: count, planned_number_of_instances: count };
  });
  const { nodes, modified } = keepCounts(next.nodes, present);
  const groups = keepGroupCounts(next.scaling_groups, plan.scaling_groups);
  const changed = modifyInstances({
    nodes,
    previousNodes: plan.nodes.map(recordedNode),
    previousInstances: model.nodeInstances as unknown as PlanInstance[],
    modifiedNodes: modified,
    scalingGroups: groups,
    previousScalingGroups: plan.scaling_groups,
    random: deployment.random,
  });
  if (!changed.ok) throw new Error(changed.error.message);
  putInstances(deployment, changed.value);
  const before = new Map(plan.nodes.map((n) => [n.id, n]));
  model.nodes = [
    ...nodes.map((n) => modelOf(withLeaving(n, before.get(n.id)))),
    ...model.nodes.filter((n) => nodes.every(({ id }) => id !== n.id)),
  ];
  deployment.text = text ?? deployment.text;
  // Until the update has ended, the record keeps the parts to be removed: if this update fails, another update needs them.
  const recorded = nodes.map((n) => keepRecord(withLeaving(n, before.get(n.id)), before.get(n.id)));
  const leaving = plan.nodes.filter((n) => nodes.every(({ id }) => id !== n.id));
  deployment.plan = { ...next, nodes: [...recorded, ...leaving], scaling_groups: groups };
  deployment.workflows = next.workflows as unknown as Deployment['workflows'];
  deployment.pending = {
    rollback: () => undefined,
    finish: () => finish(deployment, nodes, changed.value),
  };
  return updateChanges(changed.value, deployment.steps) as unknown as Json;
}

function putInstances({ model }: Deployment, change: Modification): void {
  for (const one of change.added_and_related) {
    if (one.modification === 'added') model.nodeInstances.push(modelInstance(one, 'uninitialized'));
  }
  for (const [id, gained] of gainedRelationships(change)) {
    const instance = model.nodeInstances.find((i) => i.id === id);
    if (!instance) continue;
    instance.relationships = merged(instance, gained, []);
  }
}

function merged(
  { relationships }: NodeInstance,
  gained: PlanInstance['relationships'],
  template: PlannedNode['relationships'],
): NodeInstance['relationships'] {
  return mergeRelationships(relationships as PlanInstance['relationships'], gained, template);
}

/** Returns the node as planned, plus the relationships that are to be removed. */
function withLeaving(node: PlannedNode, before: PlannedNode | undefined): PlannedNode {
  const known = new Set(node.relationships.map((r) => `${r.type} ${r.target_id}`));
  const leaving = (before?.relationships ?? []).filter((r) => !known.has(`${r.type} ${r.target_id}`));
  return { ...node, relationships: [...node.relationships, ...leaving] };
}

function modelOf(node: PlannedNode): PlanNode {
  return modelNode(node as unknown as PlanNode, countOf(node));
}

function finish(deployment: Deployment, nodes: readonly PlannedNode[], change: Modification): void {
  const { model, plan } = deployment;
  const leaving = leavingOf(change);
  removeInstances(model, new Set(leaving.instances));
  const gone = new Set(leaving.relationships.map((r) => `${r.source} ${r.type} ${r.target}`));
  for (const instance of model.nodeInstances) {
    const template = nodes.find((n) => n.id === instance.node_id)?.relationships ?? [];
    const left = instance.relationships.filter((r) => !gone.has(`${instance.id} ${r.type} ${r.target_id}`));
    instance.relationships = merged({ ...instance, relationships: left }, [], template);
  }
  model.nodes = nodes.map(modelOf);
  const before = new Map(plan.nodes.map((n) => [n.id, n]));
  deployment.plan = { ...plan, nodes: nodes.map((n) => keepRecord(n, before.get(n.id))) };
}
