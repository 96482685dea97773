import { deploymentUpdated } from '@baton/contracts';
import { AppError, type Json } from '@baton/kernel';
import { type AnyTx, outbox } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { nodeParts } from '../domain/deployment-plan';
import { mergeRelationships } from '../domain/modification';
import { keepCounts, keepRecord, type Leaving } from '../domain/update-plan';
import { type DeploymentUpdateRow, writeUpdate } from '../store/deployment-updates.sql';
import { type DeploymentRow, raiseRevision } from '../store/deployments.sql';
import { documentOf, putDocuments } from '../store/documents.sql';
import { dropRelationshipsTo } from '../store/modifications.sql';
import { deleteInstances, writeInstance } from '../store/node-instances.sql';
import { deleteNodesExcept, upsertNodes } from '../store/nodes.sql';
import { type Model, readModel, requireLocked } from './modifications';
import { requireUpdate } from './prepare-update';

type Deps = Pick<ServiceDeps, 'db' | 'documents'>;

/**
 * Performs stage D of an update (reference/workflows.md 1.13): deletes everything that the new plan no longer has, and sets the
 * update to successful. Returns the schedules that executions creates.
 */
export async function finishUpdate(
  deps: Deps,
  row: DeploymentRow,
  updateId: string,
  keep: (tx: AnyTx, result: Json) => Promise<void>,
): Promise<Json> {
  const update = await requireUpdate(deps, row, updateId);
  const { preparation, leaving } = update;
  if (!preparation || !leaving)
    throw new AppError('conflict_error', `Update \`${updateId}\` was not performed`);
  const result = { default_schedules: preparation.defaultSchedules ?? {} };
  await deps.db.tx(async (tx) => {
    const locked = await requireLocked(tx, row.key);
    await deleteInstances(tx, locked.tenant, locked.key, leaving.instances);
    await dropRelationshipsTo(tx, locked.key, leaving.instances);
    const model = await readModel(deps, tx, locked.key);
    await orderRelationships(tx, locked, model, preparation.plan.nodes, leaving);
    await writeFinalNodes(tx, locked.key, model, preparation.plan.nodes);
    await raiseRevision(tx, locked.key);
    await writeUpdate(tx, update.id, { state: 'successful' });
    await tellUpdate(tx, locked, update.id);
    await keep(tx, result);
  });
  return result;
}

/** Tells other systems (webhooks) that the deployment is a new one. */
function tellUpdate(tx: AnyTx, { tenant, id, blueprint_id }: DeploymentRow, updateId: string): Promise<void> {
  const blueprintId = blueprint_id ?? undefined;
  const payload = { deploymentId: id, change: 'update' as const, blueprintId, updateId };
  return outbox.append(tx, deploymentUpdated, { tenant, key: id }, payload);
}

type PlanNodes = NonNullable<DeploymentUpdateRow['preparation']>['plan']['nodes'];

/** Orders the relationships of the remaining instances as in the new plan, without the relationships that are removed. */
async function orderRelationships(
  tx: AnyTx,
  row: DeploymentRow,
  model: Model,
  nodes: PlanNodes,
  leaving: Leaving,
): Promise<void> {
  const gone = new Set(leaving.relationships.map((r) => `${r.source}\n${r.type}\n${r.target}`));
  const templates = new Map(nodes.map((node) => [node.id, node.relationships]));
  for (const one of model.instances) {
    const left = one.relationships.filter((r) => !gone.has(`${one.id}\n${r.type}\n${r.target_id}`));
    const relationships = JSON.stringify(mergeRelationships(left, [], templates.get(one.node_id) ?? []));
    if (relationships === JSON.stringify(one.relationships)) continue;
    await writeInstance(tx, row.tenant, one.id, { relationships });
  }
}

async function writeFinalNodes(tx: AnyTx, key: number, model: Model, planned: PlanNodes): Promise<void> {
  const { nodes } = keepCounts(planned, model.nodes);
  const before = new Map(model.planNodes.map((node) => [node.id, node]));
  const parts = nodes.map((node, position) =>
    nodeParts(keepRecord(node, before.get(node.id)) as never, position),
  );
  const documents = parts.map((part) => documentOf(part.definition));
  await putDocuments(tx, documents);
  await upsertNodes(
    tx,
    key,
    parts.map(({ definition: _shared, ...part }, i) => ({ ...part, definition: documents[i]!.digest })),
  );
  await deleteNodesExcept(
    tx,
    key,
    parts.map((part) => part.id),
  );
}
