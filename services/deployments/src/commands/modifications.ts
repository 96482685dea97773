import {
  type ChangedInstance,
  modifyInstances,
  type NodeInstance,
  type PlanNode,
  type PlanScalingGroup,
} from '@baton/dsl';
import { AppError, isUuid, newId, notFound } from '@baton/kernel';
import { type AnyTx, isUniqueViolation } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { instanceRows } from '../domain/deployment-plan';
import {
  checkModified,
  type ModifiedNodes,
  markRelated,
  mergeRelationships,
  type Scalable,
} from '../domain/modification';
import { refuseQuarantined } from '../imports/quarantine';
import { type DeploymentRow, lockDeployment, readPlan, setScalingGroups } from '../store/deployments.sql';
import { readDocuments } from '../store/documents.sql';
import {
  copyInstances,
  dropRelationshipsTo,
  endModification,
  insertModification,
  lockModification,
  type ModificationRow,
  restoreInstances,
  startedModificationIds,
} from '../store/modifications.sql';
import { deleteInstances, insertInstances, writeInstance } from '../store/node-instances.sql';
import { type NodeDefinition, type NodeRow, readNodes, setNodeCounts } from '../store/nodes.sql';

type Deps = Pick<ServiceDeps, 'db' | 'documents'>;
type StartDeps = Deps & Pick<ServiceDeps, 'boundsScaling'>;
type Groups = Record<string, PlanScalingGroup>;

const MAX_TRIES = 3;

export interface StartModification {
  /** Key of a deployment that was found and may be changed. */
  deploymentKey: number;
  context: unknown;
  modified: ModifiedNodes;
  createdBy: string;
}

/**
 * Starts a modification: raises or lowers the planned numbers, stores the added instances, and keeps a copy of all instances for
 * the rollback. Returns its id.
 * @throws AppError existing_started_deployment_modification_error, not_found_error, illegal_action_error.
 */
export async function startModification(
  deps: StartDeps,
  request: StartModification,
  within?: (tx: AnyTx, id: string) => Promise<void>,
): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await deps.db.tx(async (tx) => {
        const id = await startModificationIn(deps, tx, request);
        await within?.(tx, id);
        return id;
      });
    } catch (error) {
      // Random instance ids may be taken elsewhere in the tenant: the next attempt makes other ids.
      if (!isUniqueViolation(error, 'node_instances_pkey') || attempt >= MAX_TRIES) throw error;
    }
  }
}

/** Starts a modification in a transaction of the caller. */
export async function startModificationIn(
  deps: StartDeps,
  tx: AnyTx,
  request: StartModification,
): Promise<string> {
  const row = await requireLocked(tx, request.deploymentKey);
  await refuseQuarantined(tx, row);
  await refuseSecond(tx, row);
  const model = await readModel(deps, tx, row.key);
  checkModified(request.modified, scalables(model.nodes, model.groups), deps.boundsScaling);
  const changed = modifyInstances({
    nodes: model.planNodes,
    previousNodes: model.planNodes,
    previousInstances: model.instances.map((one) => ({
      ...one,
      name: one.node_id,
      host_id: one.host_id ?? undefined,
    })),
    modifiedNodes: request.modified,
    scalingGroups: model.groups,
    random: Math.random,
  });
  if (!changed.ok) {
    const details = { field: 'nodes', kind: changed.error.kind };
    throw new AppError('illegal_action_error', changed.error.message, details);
  }
  const { added_and_related: added, removed_and_related: removed } = changed.value;
  await storeAdded(tx, row, model, added);
  await writePlanned(tx, row, model.nodes, model.groups, request.modified);
  const id = newId();
  await insertModification(tx, {
    id,
    deploymentKey: row.key,
    context: request.context,
    modifiedNodes: request.modified,
    createdBy: request.createdBy,
    added: markRelated(added),
    removed: markRelated(removed),
    before: model.copy,
    beforeCounts: { nodes: model.nodes.map(countsOf), scaling_groups: model.groups },
  });
  return id;
}

async function refuseSecond(tx: AnyTx, row: DeploymentRow): Promise<void> {
  const started = await startedModificationIds(tx, row.key);
  if (started.length === 0) return;
  throw new AppError(
    'existing_started_deployment_modification_error',
    `Deployment \`${row.id}\` has a started modification: ${started.join(', ')}`,
    { modifications: started },
  );
}

export interface Model {
  nodes: NodeRow[];
  planNodes: PlanNode[];
  groups: Groups;
  instances: (NodeInstance & { index: number })[];
  /** The instances as JSON text. */
  copy: string;
}

/** Reads the nodes, groups and instances of a deployment, from which instance changes are computed. */
export async function readModel(deps: Deps, tx: AnyTx, key: number): Promise<Model> {
  const nodes = await readNodes(tx, key);
  const digests = nodes.map((node) => node.definition);
  const definitions = await readDocuments(tx, deps.documents, digests);
  const planNodes = nodes.map((node) => planNode(node, definitions.get(node.definition) as NodeDefinition));
  const groups = ((await readPlan(tx, key))?.scaling_groups ?? {}) as Groups;
  const copy = await copyInstances(tx, key);
  return { nodes, planNodes, groups, instances: JSON.parse(copy) as Model['instances'], copy };
}

function countsOf(node: NodeRow) {
  return { id: node.id, number: node.number_of_instances, planned: node.planned_number_of_instances };
}

/** Stores new instances, and the relationships that their neighbours gain. */
async function storeAdded(
  tx: AnyTx,
  row: DeploymentRow,
  model: Model,
  changed: readonly ChangedInstance[],
): Promise<void> {
  const added = changed.filter((instance) => instance.modification === 'added');
  await insertInstances(
    tx,
    row.tenant,
    instanceRows(added, highestIndexes(model.instances)).map((one) => ({ ...one, deployment_key: row.key })),
  );
  const related = changed.filter((one) => one.modification === undefined && one.relationships.length > 0);
  for (const instance of related) {
    const current = model.instances.find((one) => one.id === instance.id)!;
    const template = model.planNodes.find((node) => node.id === instance.node_id)?.relationships ?? [];
    const merged = mergeRelationships(current.relationships, instance.relationships, template);
    await writeInstance(tx, row.tenant, instance.id, { relationships: JSON.stringify(merged) });
  }
}

/** Locks and returns a deployment. @throws AppError not_found_error */
export async function requireLocked(tx: AnyTx, key: number): Promise<DeploymentRow> {
  const row = await lockDeployment(tx, key);
  if (!row) throw notFound('Deployment', String(key));
  return row;
}

function planNode(node: NodeRow, definition: NodeDefinition): PlanNode {
  const properties = {
    min_instances: node.min_number_of_instances,
    max_instances: node.max_number_of_instances,
    default_instances: node.deploy_number_of_instances,
    current_instances: node.number_of_instances,
    planned_instances: node.planned_number_of_instances,
  };
  return {
    ...definition,
    id: node.id,
    name: node.id,
    type: node.type,
    properties: node.properties,
    ...(node.host_id === null ? {} : { host_id: node.host_id }),
    capabilities: { scalable: { properties } },
  } as unknown as PlanNode;
}

function scalables(nodes: readonly NodeRow[], groups: Groups): Scalable[] {
  return [
    ...nodes.map((n) => ({
      name: n.id,
      isGroup: false,
      min: n.min_number_of_instances,
      max: n.max_number_of_instances,
    })),
    ...Object.entries(groups).map(([name, { properties }]) => ({
      name,
      isGroup: true,
      min: Number(properties.min_instances ?? 0),
      max: Number(properties.max_instances ?? -1),
    })),
  ];
}

/** Returns the highest index that each node has used. */
export function highestIndexes(
  instances: readonly { node_id: string; index: number }[],
): Map<string, number> {
  const highest = new Map<string, number>();
  for (const { node_id, index } of instances)
    highest.set(node_id, Math.max(index, highest.get(node_id) ?? 0));
  return highest;
}

async function writePlanned(
  tx: AnyTx,
  row: DeploymentRow,
  nodes: readonly NodeRow[],
  groups: Groups,
  modified: ModifiedNodes,
): Promise<void> {
  const counts = nodes
    .filter((node) => modified[node.id]?.instances !== undefined)
    .map((node) => ({ id: node.id, number: null, planned: modified[node.id]!.instances! }));
  await setNodeCounts(tx, row.key, counts);
  await setScalingGroups(tx, row.key, withCounts(groups, modified, 'planned_instances'));
}

function withCounts(
  groups: Groups,
  modified: ModifiedNodes,
  property: 'planned_instances' | 'current_instances',
): Groups {
  return Object.fromEntries(
    Object.entries(groups).map(([name, group]) => {
      const wanted = modified[name]?.instances;
      return [
        name,
        wanted === undefined ? group : { ...group, properties: { ...group.properties, [property]: wanted } },
      ];
    }),
  );
}

/**
 * Finishes a modification: deletes removed instances and stores the new numbers.
 * @throws AppError deployment_modification_already_ended_error
 */
export async function finishModification(
  deps: Deps,
  id: string,
  within?: (tx: AnyTx) => Promise<void>,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const { modification, row } = await requireStarted(tx, id);
    const removed = modification.removed_and_related
      .filter((one) => one.modification === 'removed')
      .map((one) => one.id);
    await deleteInstances(tx, row.tenant, row.key, removed);
    await dropRelationshipsTo(tx, row.key, removed);
    const counts = Object.entries(modification.modified_nodes)
      .filter(([, change]) => change.instances !== undefined)
      .map(([name, change]) => ({ id: name, number: change.instances!, planned: change.instances! }));
    await setNodeCounts(tx, row.key, counts);
    const groups = ((await readPlan(tx, row.key))?.scaling_groups ?? {}) as Groups;
    await setScalingGroups(tx, row.key, withCounts(groups, modification.modified_nodes, 'current_instances'));
    await endModification(tx, id, 'finished', '[]');
    await within?.(tx);
  });
}

/** Restores the state before the start of the modification. @throws AppError deployment_modification_already_ended_error */
export async function rollbackModification(
  deps: Deps,
  id: string,
  within?: (tx: AnyTx) => Promise<void>,
): Promise<void> {
  await deps.db.tx(async (tx) => {
    const { modification, row } = await requireStarted(tx, id);
    const beforeRollback = await copyInstances(tx, row.key);
    await restoreInstances(tx, id, row.tenant, row.key);
    await setNodeCounts(tx, row.key, modification.before_counts.nodes);
    await setScalingGroups(tx, row.key, modification.before_counts.scaling_groups);
    await endModification(tx, id, 'rolledback', beforeRollback);
    await within?.(tx);
  });
}

/** Lock order: deployment, then modification. */
async function requireStarted(
  tx: AnyTx,
  id: string,
): Promise<{ modification: ModificationRow; row: DeploymentRow }> {
  const seen = isUuid(id) ? await lockModification(tx, id) : null;
  if (!seen) throw notFound('DeploymentModification', id);
  const row = await requireLocked(tx, seen.deployment_key);
  if (seen.status !== 'started') {
    throw new AppError(
      'deployment_modification_already_ended_error',
      `Deployment modification \`${id}\` is ${seen.status} already`,
      { status: seen.status },
    );
  }
  return { modification: seen, row };
}
