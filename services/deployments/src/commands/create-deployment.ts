import type { LabelPair, Principal } from '@baton/contracts';
import {
  deploymentCreated,
  isAdministrator,
  isWider,
  labelError,
  parseLabels,
  type Visibility,
  visibilityOfNew,
} from '@baton/contracts';
import { AppError, badParameter, isAppError, type JsonObject, newId, notFound } from '@baton/kernel';
import { type AnyTx, isUniqueViolation, outbox } from '@baton/postgres';
import type { Blueprint } from '../adapters/catalog.client';
import type { ServiceDeps } from '../deps';
import {
  instanceRows,
  modelDocument,
  nodeParts,
  nodeTypes,
  requiredPlugins,
} from '../domain/deployment-plan';
import { ownershipOf } from '../domain/ownership';
import { insertDeployment, insertPlan, isIdTakenElsewhere, readDeployment } from '../store/deployments.sql';
import { documentOf, putDocuments } from '../store/documents.sql';
import { addLabels } from '../store/labels.sql';
import { insertInstances } from '../store/node-instances.sql';
import { insertNodes } from '../store/nodes.sql';
import { findSite, type SiteRow } from '../store/sites.sql';
import { recordPlanDependencies } from './dependencies';
import { changeParents, isEnvironment, parentIds } from './parents';
import { type DeploymentPreparation, prepareDeployment } from './prepare-deployment';
import { requireDeploymentId } from './resource-id';

export interface CreateDeploymentBody {
  blueprint_id: string;
  inputs?: Record<string, unknown> | null;
  visibility?: Visibility;
  private_resource?: boolean;
  site_name?: string | null;
  labels?: unknown;
  display_name?: string | null;
  skip_plugins_validation?: boolean;
  runtime_only_evaluation?: boolean;
  created_at?: string;
  created_by?: string;
}

const MAX_TRIES = 3;
const DISPLAY_NAME_LENGTH = 256;

interface Request {
  id: string;
  body: CreateDeploymentBody;
  principal: Principal;
  visibility: Visibility;
  labels: LabelPair[];
  blueprint: Blueprint;
  site: SiteRow | null;
  createdAt: string | null;
  createdBy: string;
}

/**
 * PUT /deployments/{id} (reference/rest-api.md 5.2, reference/dsl.md 7.3): checks, prepares the plan and stores the whole
 * model in one transaction. A crash before the commit leaves nothing; the outbox message makes executions record the
 * terminated create_deployment_environment execution whose id is given here.
 */
export async function createDeployment(
  deps: ServiceDeps,
  principal: Principal,
  id: string,
  body: CreateDeploymentBody,
): Promise<void> {
  const request = await checkRequest(deps, principal, id, body);
  for (let attempt = 1; ; attempt++) {
    const preparation = await prepareDeployment(deps, {
      tenant: principal.tenant,
      deploymentId: id,
      plan: request.blueprint.plan,
      inputs: (body.inputs ?? {}) as JsonObject,
      labels: request.labels,
      displayName: body.display_name ?? null,
      blueprintId: body.blueprint_id,
      isRuntimeOnly: body.runtime_only_evaluation ?? false,
      caller: { username: principal.username, isAdministrator: isAdministrator(principal) },
    });
    try {
      await deps.db.tx((tx) => storeDeployment(tx, request, preparation));
      return;
    } catch (error) {
      // Instance ids are random; in a tenant with many of one node two meet now and then. Prepared anew they differ.
      if (!isUniqueViolation(error, 'node_instances_pkey') || attempt >= MAX_TRIES)
        throw translate(error, id);
    }
  }
}

async function checkRequest(
  deps: ServiceDeps,
  principal: Principal,
  id: string,
  body: CreateDeploymentBody,
): Promise<Request> {
  requireDeploymentId(id);
  const visibility = visibilityOfNew(principal, body.visibility, body.private_resource);
  const labels = parseLabels(body.labels ?? []);
  if (!labels.ok) throw labelError(labels.error);
  const owner = ownershipOf(principal, body);
  if (owner.isForeign && !(await deps.identity.exists(owner.createdBy)))
    throw badParameter('created_by', `There is no user \`${owner.createdBy}\``);
  checkDisplayName(body.display_name ?? '');
  const blueprint = await findBlueprint(deps, principal, body.blueprint_id);
  if (isWider(visibility, blueprint.visibility)) {
    throw new AppError(
      'forbidden_error',
      `A deployment cannot be wider (${visibility}) than its blueprint \`${blueprint.id}\` (${blueprint.visibility})`,
      {
        field: 'visibility',
        expected: `at most ${blueprint.visibility}`,
      },
    );
  }
  const site = body.site_name ? await findSiteFor(deps, principal, body.site_name, visibility) : null;
  if (await readDeployment(deps.db.query, principal.tenant, id)) throw taken(id);
  if (await isIdTakenElsewhere(deps.db.query, principal.tenant, id, visibility === 'global')) throw taken(id);
  if (!body.skip_plugins_validation) await checkPlugins(deps, principal.tenant, blueprint.plan);
  return {
    id,
    body,
    principal,
    visibility,
    labels: labels.value,
    blueprint,
    site,
    createdAt: owner.createdAt,
    createdBy: owner.createdBy,
  };
}

async function findBlueprint(deps: ServiceDeps, principal: Principal, id: string): Promise<Blueprint> {
  const caller = { username: principal.username, isAdministrator: isAdministrator(principal) };
  const blueprint = await deps.catalog.blueprint(principal.tenant, id, caller);
  if (!blueprint) throw notFound('Blueprint', id);
  if (blueprint.state !== 'uploaded') {
    throw new AppError(
      'deployment_creation_error',
      `Blueprint \`${id}\` is in state ${blueprint.state}, not uploaded`,
      { field: 'blueprint_id', state: blueprint.state },
    );
  }
  return blueprint;
}

async function findSiteFor(
  deps: ServiceDeps,
  principal: Principal,
  name: string,
  visibility: Visibility,
): Promise<SiteRow> {
  const site = await findSite(deps.db.query, principal, name);
  if (!site) throw notFound('Site', name);
  refuseNarrowSite(site, visibility);
  return site;
}

/** @throws AppError illegal_action_error when the site is narrower than the deployment. */
export function refuseNarrowSite(site: SiteRow, visibility: Visibility): void {
  if (!isWider(visibility, site.visibility)) return;
  throw new AppError(
    'illegal_action_error',
    `Site \`${site.name}\` is ${site.visibility}, narrower than the deployment (${visibility})`,
    {
      field: 'site_name',
      expected: `a site of visibility ${visibility} or wider`,
    },
  );
}

async function checkPlugins(deps: ServiceDeps, tenant: string, plan: JsonObject): Promise<void> {
  const required = requiredPlugins(plan);
  const missing = await deps.catalog.missingPlugins(tenant, required);
  if (missing.length === 0) return;
  const names = missing.map(
    (plugin) => `${plugin.packageName}${plugin.packageVersion && ` ${plugin.packageVersion}`}`,
  );
  throw new AppError(
    'deployment_plugin_not_found',
    `Required plugins are not on the manager: ${names.join(', ')}`,
    {
      plugins: names,
      expected: 'uploaded plugins, or skip_plugins_validation',
    },
  );
}

/** @throws AppError bad_parameters_error for a name that is too long or holds control characters. */
export function checkDisplayName(name: string): string {
  const normal = name.normalize('NFKC');
  if (normal.length > DISPLAY_NAME_LENGTH || /\p{Cc}/u.test(normal)) {
    throw badParameter('display_name', 'The display name is too long or holds control characters', {
      expected: `at most ${DISPLAY_NAME_LENGTH} characters, none of them a control character`,
    });
  }
  return normal;
}

async function storeDeployment(
  tx: AnyTx,
  request: Request,
  preparation: DeploymentPreparation,
): Promise<void> {
  const { principal, blueprint, id } = request;
  const { plan, labels, displayName } = preparation;
  const tenant = principal.tenant;
  const createExecutionId = newId();
  const nodes = plan.nodes.map((node, position) => nodeParts(node as never, position));
  const isEmpty = plan.node_instances.length === 0;
  const key = await insertDeployment(tx, {
    tenant,
    id,
    blueprint_id: blueprint.id,
    display_name: displayName,
    description: plan.description,
    visibility: request.visibility,
    created_by: request.createdBy,
    created_at: request.createdAt,
    site_key: request.site?.key ?? null,
    runtime_only_evaluation: request.body.runtime_only_evaluation ?? false,
    create_execution: createExecutionId,
    is_environment: isEnvironment(labels),
    installation_status: isEmpty ? 'active' : 'inactive',
    own_status: isEmpty ? 'good' : 'requires_attention',
  });
  const model = documentOf(modelDocument(plan as unknown as JsonObject));
  const definitions = nodes.map((node) => documentOf(node.definition));
  await putDocuments(tx, [model, ...definitions]);
  await insertPlan(tx, key, { ...plan, model: model.digest, node_types: nodeTypes(nodes) });
  await insertNodes(
    tx,
    key,
    nodes.map(({ definition: _shared, ...node }, i) => ({ ...node, definition: definitions[i]!.digest })),
  );
  await insertInstances(tx, tenant, key, instanceRows(plan.node_instances));
  await addLabels(tx, tenant, key, labels, { username: request.createdBy, userId: principal.userId });
  const parents = parentIds(labels);
  if (parents.length > 0) await changeParents(tx, { tenant, key, id }, parents);
  await recordPlanDependencies(
    tx,
    { tenant, key, createdBy: request.createdBy, visibility: request.visibility },
    plan.inter_deployment_functions,
  );
  await announce(tx, request, preparation, createExecutionId);
}

/** executions records the terminated create_deployment_environment execution and makes the schedules. */
async function announce(
  tx: AnyTx,
  request: Request,
  preparation: DeploymentPreparation,
  createExecutionId: string,
): Promise<void> {
  const { body, id, principal } = request;
  await outbox.append(
    tx,
    deploymentCreated,
    { tenant: principal.tenant, key: id },
    {
      deploymentId: id,
      blueprintId: request.blueprint.id,
      createExecutionId,
      createdBy: request.createdBy,
      displayName: preparation.displayName,
      visibility: request.visibility,
      parameters: {
        inputs: body.inputs ?? {},
        labels: request.labels.map((label) => ({ [label.key]: label.value })),
        skip_plugins_validation: body.skip_plugins_validation ?? false,
        display_name: body.display_name ?? null,
      },
      defaultSchedules: preparation.defaultSchedules,
    },
  );
}

function taken(id: string): AppError {
  return new AppError('conflict_error', `Deployment with ID \`${id}\` already exists`, { field: 'id' });
}

/** A parent that is missing while the deployment is made is an error of the creation (reference/rest-api.md 5.2). */
function translate(error: unknown, id: string): unknown {
  if (isUniqueViolation(error, 'deployments_tenant_id_key')) return taken(id);
  if (isAppError(error, 'deployment_parent_not_found_error')) {
    return new AppError(
      'deployment_creation_error',
      error.message,
      { ...error.details, reason: error.code },
      { cause: error },
    );
  }
  return error;
}
