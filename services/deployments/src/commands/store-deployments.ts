import { deploymentCreated, isAdministrator, type LabelPair } from '@baton/contracts';
import { AppError, isAppError, type JsonObject, newId } from '@baton/kernel';
import { type AnyTx, isUniqueViolation, type OutgoingMessage, outgoing } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import {
  type InterDeploymentFunction,
  instanceRows,
  modelDocument,
  nodeParts,
  nodeTypes,
} from '../domain/deployment-plan';
import { requireRoom } from '../store/deployment-quota.sql';
import { insertDeployments, insertPlans, type PlanColumns } from '../store/deployments.sql';
import { type DocumentText, documentOf, putDocuments } from '../store/documents.sql';
import { addLabelsToMany } from '../store/labels.sql';
import { insertInstances, type NewInstance, takenInstanceIds } from '../store/node-instances.sql';
import { insertNodes, type NewNode } from '../store/nodes.sql';
import { type DeploymentRequest, taken } from './check-deployment';
import { recordPlanDependencies } from './dependencies';
import { joinDefaultGroups } from './join-groups';
import { documentsOf } from './node-documents';
import { changeParents, isEnvironment, parentIds } from './parents';
import { prepareDeployment } from './prepare-deployment';

/** A new deployment as the rows to store; the rest of its prepared plan is not kept. */
export interface DeploymentRows {
  request: DeploymentRequest;
  createExecutionId: string;
  displayName: string;
  description: string | null;
  labels: LabelPair[];
  plan: PlanColumns;
  documents: DocumentText[];
  nodes: NewNode[];
  instances: NewInstance[];
  functions: InterDeploymentFunction[];
  defaultSchedules: Record<string, unknown>;
  defaultGroups: string[];
}

/** Prepares the plan of a deployment (reference/dsl.md 7.3) and returns its rows. */
export async function prepareRows(deps: ServiceDeps, request: DeploymentRequest): Promise<DeploymentRows> {
  const { principal, body, blueprint } = request;
  const { plan, labels, displayName, defaultSchedules, defaultGroups } = await prepareDeployment(deps, {
    tenant: principal.tenant,
    deploymentId: request.id,
    plan: blueprint.plan,
    inputs: (body.inputs ?? {}) as JsonObject,
    labels: request.labels,
    displayName: body.display_name ?? null,
    blueprintId: blueprint.id,
    isRuntimeOnly: body.runtime_only_evaluation ?? false,
    caller: { username: principal.username, isAdministrator: isAdministrator(principal) },
  });
  const nodes = plan.nodes.map((node, position) => nodeParts(node as never, position));
  const model = documentOf(modelDocument(plan as unknown as JsonObject));
  const definitions = await documentsOf(
    nodes.map((node) => node.definition),
    documentOf,
  );
  return {
    request,
    createExecutionId: newId(),
    displayName,
    description: plan.description,
    labels,
    plan: {
      model: model.digest,
      inputs: plan.inputs,
      outputs: plan.outputs,
      capabilities: plan.capabilities,
      scaling_groups: plan.scaling_groups,
      resource_tags: plan.resource_tags,
      node_types: nodeTypes(nodes),
    },
    documents: [model, ...new Set(definitions)],
    nodes: nodes.map(({ definition: _shared, ...node }, i) => ({
      ...node,
      definition: definitions[i]!.digest,
    })),
    instances: instanceRows(plan.node_instances),
    functions: plan.inter_deployment_functions,
    defaultSchedules,
    defaultGroups,
  };
}

const MAX_TRIES = 3;

/**
 * Runs `store` with the rows in a transaction. Instance ids are random; in a tenant with many instances of one node two ids
 * sometimes collide. The affected deployments are then prepared again, with other ids.
 * @throws AppError conflict_error when an id is taken, deployment_creation_error when a parent is missing, too_many_requests_error
 * when the tenant has reached its quota.
 */
export async function storeUntilFree<T>(
  deps: ServiceDeps,
  first: DeploymentRows[],
  store: (tx: AnyTx, rows: DeploymentRows[]) => Promise<T>,
): Promise<T> {
  let rows = first;
  for (let attempt = 1; ; attempt++) {
    try {
      return await deps.db.tx(async (tx) => {
        const stored = await store(tx, rows);
        await holdToQuota(deps, tx, rows);
        return stored;
      });
    } catch (error) {
      if (!isUniqueViolation(error, 'node_instances_pkey') || attempt >= MAX_TRIES)
        throw translate(error, rows);
      rows = await withFreeIds(deps, rows);
    }
  }
}

async function holdToQuota(
  { limits }: ServiceDeps,
  tx: AnyTx,
  rows: readonly DeploymentRows[],
): Promise<void> {
  const tenant = rows[0]?.request.principal.tenant;
  if (tenant !== undefined) await requireRoom(tx, tenant, limits.of(tenant).deployments, rows.length);
}

async function withFreeIds(deps: ServiceDeps, rows: readonly DeploymentRows[]): Promise<DeploymentRows[]> {
  const ids = rows.flatMap((row) => row.instances.map((instance) => instance.id));
  const tenant = rows[0]!.request.principal.tenant;
  const used = new Set(await takenInstanceIds(deps.db.query, tenant, ids));
  const result: DeploymentRows[] = [];
  for (const row of rows) {
    const isFree = row.instances.every((instance) => !used.has(instance.id));
    for (const instance of row.instances) used.add(instance.id);
    result.push(isFree ? row : await prepareRows(deps, row.request));
  }
  return result;
}

/** Translates database errors: a parent that is missing is an error of the creation (reference/rest-api.md 5.2). */
function translate(error: unknown, rows: readonly DeploymentRows[]): unknown {
  if (isUniqueViolation(error, 'deployments_tenant_id_key')) return taken(takenOf(error, rows));
  if (rows.length > 0 && isAppError(error, 'deployment_parent_not_found_error')) {
    const details = { ...error.details, reason: error.code };
    return new AppError('deployment_creation_error', error.message, details, { cause: error });
  }
  return error;
}

/** Finds the taken id in the error text of the database; of several taken ids it names one. */
function takenOf(error: unknown, rows: readonly DeploymentRows[]): string {
  const detail = String((error as { detail?: string }).detail ?? '');
  const named = rows.find((row) => detail.includes(`, ${row.request.id})`));
  return (named ?? rows[0]!).request.id;
}

/**
 * Stores whole models with a fixed small number of statements, whatever their number; returns their keys by id. Only parents and
 * dependencies on other deployments need statements of their own.
 */
export async function storeDeployments(
  tx: AnyTx,
  rows: readonly DeploymentRows[],
): Promise<Map<string, number>> {
  if (rows.length === 0) return new Map();
  const { principal, createdBy } = rows[0]!.request;
  const { tenant } = principal;
  const keys = await insertDeployments(tx, tenant, rows.map(deploymentRow));
  const keyed = rows.map((row) => ({ ...row, key: keys.get(row.request.id)! }));
  await putDocuments(
    tx,
    rows.flatMap((row) => row.documents),
  );
  // Before the plans, because the stored list entries of deployments are written with the plans.
  await addLabelsToMany(
    tx,
    tenant,
    keyed.flatMap(({ labels, key }) => labels.map((label) => ({ ...label, deploymentKey: key }))),
    { username: createdBy, userId: principal.userId },
  );
  await insertPlans(
    tx,
    keyed.map(({ plan, key }) => ({ ...plan, deployment_key: key })),
  );
  await insertNodes(
    tx,
    keyed.flatMap(({ nodes, key }) => nodes.map((node) => ({ ...node, deployment_key: key }))),
  );
  await insertInstances(
    tx,
    tenant,
    keyed.flatMap(({ instances, key }) => instances.map((one) => ({ ...one, deployment_key: key }))),
  );
  for (const { request, labels, functions, key } of keyed) {
    const parents = parentIds(labels);
    if (parents.length > 0) await changeParents(tx, { tenant, key, id: request.id }, parents);
    await recordPlanDependencies(tx, { tenant, key, createdBy, visibility: request.visibility }, functions);
  }
  const joining = keyed.map(({ key, defaultGroups }) => ({ key, createdBy, groups: defaultGroups }));
  await joinDefaultGroups(tx, principal, joining);
  return keys;
}

function deploymentRow(row: DeploymentRows) {
  const { request, labels, instances } = row;
  const isEmpty = instances.length === 0;
  return {
    id: request.id,
    blueprint_id: request.blueprint.id,
    display_name: row.displayName,
    description: row.description,
    visibility: request.visibility,
    created_by: request.createdBy,
    created_at: request.createdAt,
    site_key: request.site?.key ?? null,
    runtime_only_evaluation: request.body.runtime_only_evaluation ?? false,
    create_execution: row.createExecutionId,
    is_environment: isEnvironment(labels),
    installation_status: isEmpty ? 'active' : 'inactive',
    own_status: isEmpty ? 'good' : 'requires_attention',
  };
}

/** Parameters shown on the create_deployment_environment execution. */
export function creationParameters({ request: { body, labels } }: DeploymentRows): Record<string, unknown> {
  return {
    inputs: body.inputs ?? {},
    labels: labels.map((label) => ({ [label.key]: label.value })),
    skip_plugins_validation: body.skip_plugins_validation ?? false,
    display_name: body.display_name ?? null,
  };
}

/** Returns the log lines of the creating execution (reference/workflows.md 1.15). */
const creationLog = ({ nodes, instances }: DeploymentRows): string[] => [
  'Setting deployment attributes',
  `Creating ${nodes.length} nodes`,
  `Creating ${instances.length} node-instances`,
  'Creating deployment work directory',
];

/**
 * Makes the message by which executions records the terminated create_deployment_environment execution and creates the schedules.
 */
export function creationMessage(row: DeploymentRows): OutgoingMessage {
  const { request } = row;
  return outgoing(
    deploymentCreated,
    { tenant: request.principal.tenant, key: request.id },
    {
      deploymentId: request.id,
      blueprintId: request.blueprint.id,
      createExecutionId: row.createExecutionId,
      createdBy: request.createdBy,
      displayName: row.displayName,
      visibility: request.visibility,
      parameters: creationParameters(row),
      log: creationLog(row),
      defaultSchedules: row.defaultSchedules,
    },
  );
}
