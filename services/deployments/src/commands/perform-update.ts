import {
  type InterDeploymentFunction,
  type Modification,
  modifyInstances,
  type NodeInstance,
  type PlanNode,
} from '@baton/dsl';
import { AppError, type Json, type JsonObject } from '@baton/kernel';
import { type AnyTx, isUniqueViolation } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { instanceRows, modelDocument, nodeParts, nodeTypes } from '../domain/deployment-plan';
import { markRelated, mergeRelationships } from '../domain/modification';
import {
  gainedRelationships,
  keepCounts,
  keepGroupCounts,
  keepRecord,
  leavingOf,
  updateChanges,
} from '../domain/update-plan';
import { deleteCapabilityUses, sharedTargets } from '../store/dependencies.sql';
import { type DeploymentUpdateRow, writeUpdate } from '../store/deployment-updates.sql';
import { type DeploymentRow, updateOwnAttributes, updatePlan } from '../store/deployments.sql';
import { documentOf, putDocuments } from '../store/documents.sql';
import { addLabels, refreshConsumers } from '../store/labels.sql';
import { insertInstances, writeInstance } from '../store/node-instances.sql';
import { upsertNodes } from '../store/nodes.sql';
import { recordPlanDependencies } from './dependencies';
import { highestIndexes, type Model, readModel, requireLocked } from './modifications';
import { changeParents, isEnvironment, parentIds } from './parents';
import { requireUpdate } from './prepare-update';

type Deps = Pick<ServiceDeps, 'db' | 'documents'>;
type Prepared = NonNullable<DeploymentUpdateRow['preparation']>;

const MAX_TRIES = 3;

/**
 * Performs stage B of an update (reference/workflows.md 1.13) in one transaction: stores the new plan and adds new nodes and
 * instances; those that leave stay for now. Returns UpdateChanges.
 */
export async function performUpdate(
  deps: Deps,
  row: DeploymentRow,
  updateId: string,
  keep: (tx: AnyTx, result: Json) => Promise<void>,
): Promise<Json> {
  const update = await requireUpdate(deps, row, updateId);
  const { preparation } = update;
  if (!preparation) throw new AppError('conflict_error', `Update \`${updateId}\` is not prepared`);
  for (let attempt = 1; ; attempt++) {
    try {
      return await deps.db.tx(async (tx) => {
        const result = await performInTx(deps, tx, row.key, update, preparation);
        await keep(tx, result);
        return result;
      });
    } catch (error) {
      // Random instance ids may be taken elsewhere in the tenant: the next attempt makes other ids.
      if (!isUniqueViolation(error, 'node_instances_pkey') || attempt >= MAX_TRIES) throw error;
    }
  }
}

async function performInTx(
  deps: Deps,
  tx: AnyTx,
  key: number,
  update: DeploymentUpdateRow,
  prepared: Prepared,
): Promise<Json> {
  const row = await requireLocked(tx, key);
  const model = await readModel(deps, tx, key);
  const { nodes, modified } = keepCounts(prepared.plan.nodes, model.nodes);
  const groups = keepGroupCounts(prepared.plan.scaling_groups, model.groups);
  const change = changeOf(model, nodes, groups, modified);
  await writeNodes(tx, key, nodes, model);
  await writeAttributes(tx, row, update, prepared, nodes, groups);
  await writeInstances(tx, row, model, change);
  await writeDependencies(tx, row, update, prepared, [
    ...model.instances,
    ...change.added_and_related.filter((one) => one.modification === 'added'),
  ]);
  await writeUpdate(tx, update.id, {
    leaving: leavingOf(change),
    deployment_update_nodes: nodes,
    deployment_update_node_instances: {
      added_and_related: markRelated(change.added_and_related),
      removed_and_related: markRelated(change.removed_and_related),
      extended_and_related: markRelated(change.extended_and_related),
      reduced_and_related: markRelated(change.reduced_and_related),
    },
  });
  return updateChanges(change, update.steps);
}

function changeOf(
  model: Model,
  nodes: PlanNode[],
  scalingGroups: Model['groups'],
  modifiedNodes: Record<string, { instances: number }>,
): Modification {
  const changed = modifyInstances({
    nodes,
    previousNodes: model.planNodes,
    previousInstances: model.instances.map((one) => ({
      ...one,
      name: one.node_id,
      host_id: one.host_id ?? undefined,
    })),
    modifiedNodes,
    scalingGroups,
    previousScalingGroups: model.groups,
    random: Math.random,
  });
  if (changed.ok) return changed.value;
  throw new AppError('illegal_action_error', changed.error.message, { kind: changed.error.kind });
}

/** Stores the planned nodes; nodes that stay keep the relationships that are to be removed until the update has ended. */
async function writeNodes(tx: AnyTx, key: number, nodes: PlanNode[], model: Model): Promise<void> {
  const before = new Map(model.planNodes.map((node) => [node.id, node]));
  const parts = nodes.map((node, position) => {
    const known = new Set(node.relationships.map((r) => `${r.type}\n${r.target_id}`));
    const leaving = (before.get(node.id)?.relationships ?? []).filter(
      (r) => !known.has(`${r.type}\n${r.target_id}`),
    );
    const kept = keepRecord(
      { ...node, relationships: [...node.relationships, ...leaving] },
      before.get(node.id),
    );
    return nodeParts(kept as never, position);
  });
  const documents = parts.map((part) => documentOf(part.definition));
  await putDocuments(tx, documents);
  await upsertNodes(
    tx,
    key,
    parts.map(({ definition: _shared, ...part }, i) => ({ ...part, definition: documents[i]!.digest })),
  );
}

/** Stores the attributes of the deployment itself. Labels are only added. */
async function writeAttributes(
  tx: AnyTx,
  row: DeploymentRow,
  update: DeploymentUpdateRow,
  { plan, labels }: Prepared,
  nodes: PlanNode[],
  groups: Model['groups'],
): Promise<void> {
  const document = documentOf(modelDocument(plan as unknown as JsonObject));
  await putDocuments(tx, [document]);
  const types = nodeTypes(nodes.map((node, position) => nodeParts(node as never, position)));
  await updatePlan(tx, row.key, {
    ...plan,
    scaling_groups: groups,
    model: document.digest,
    node_types: types,
  });
  await updateOwnAttributes(tx, row.key, {
    blueprintId: update.new_blueprint_id,
    description: plan.description,
    isRuntimeOnly: update.runtime_only_evaluation,
    isEnvironment: isEnvironment(labels),
  });
  await addLabels(tx, row.tenant, row.key, labels, { username: update.created_by, userId: 0 });
  const parents = parentIds(labels);
  if (parents.length > 0) await changeParents(tx, row, parents);
}

async function writeInstances(
  tx: AnyTx,
  row: DeploymentRow,
  model: Model,
  change: Modification,
): Promise<void> {
  const added = change.added_and_related.filter((one) => one.modification === 'added');
  await insertInstances(
    tx,
    row.tenant,
    instanceRows(added, highestIndexes(model.instances)).map((one) => ({ ...one, deployment_key: row.key })),
  );
  const instances = new Map(model.instances.map((one) => [one.id, one]));
  for (const [id, gained] of gainedRelationships(change)) {
    const current = instances.get(id);
    if (!current) continue;
    // Appended behind the present ones: the order of the new plan applies once the update has ended, as in the original.
    const merged = mergeRelationships(current.relationships, gained, []);
    await writeInstance(tx, row.tenant, id, { relationships: JSON.stringify(merged) });
  }
}

/**
 * Replaces the dependencies on other deployments' capabilities by those of the new plan; components and manual dependencies stay.
 */
async function writeDependencies(
  tx: AnyTx,
  row: DeploymentRow,
  update: DeploymentUpdateRow,
  { plan }: Prepared,
  instances: readonly { id: string; node_id: string }[],
): Promise<void> {
  const before = await sharedTargets(tx, row.key);
  await deleteCapabilityUses(tx, row.key);
  const owner = {
    tenant: row.tenant,
    key: row.key,
    createdBy: update.created_by,
    visibility: row.visibility,
  };
  await recordPlanDependencies(
    tx,
    owner,
    withFinalIds(plan.inter_deployment_functions, plan.node_instances, instances),
  );
  await refreshConsumers(tx, [...before, ...(await sharedTargets(tx, row.key))]);
}

/**
 * Replaces the instance ids in contexts: the plan was prepared with instances of its own, and contexts must name the stored ones.
 */
function withFinalIds(
  functions: readonly InterDeploymentFunction[],
  planned: readonly NodeInstance[],
  real: readonly { id: string; node_id: string }[],
): InterDeploymentFunction[] {
  const byNode = new Map<string, string[]>();
  for (const { id, node_id } of real) byNode.set(node_id, [...(byNode.get(node_id) ?? []), id]);
  const taken = new Map<string, number>();
  const names = new Map(
    planned.map(({ id, node_id }) => {
      const index = taken.get(node_id) ?? 0;
      taken.set(node_id, index + 1);
      return [id, byNode.get(node_id)?.[index] ?? id];
    }),
  );
  return functions.map((one) => ({
    ...one,
    context: Object.fromEntries(
      Object.entries(one.context).map(([side, id]) => [side, id === undefined ? id : (names.get(id) ?? id)]),
    ),
  }));
}
