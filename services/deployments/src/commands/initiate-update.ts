import { isAdministrator, type Principal, requireOwnTenant } from '@baton/contracts';
import { initiateUpdateBody } from '@baton/contracts/http/deployment-updates';
import {
  AppError,
  badParameter,
  isAppError,
  type Json,
  type JsonObject,
  newId,
  notFound,
} from '@baton/kernel';
import type { AnyTx } from '@baton/postgres';
import type { ServiceDeps } from '../deps';
import { dependentsError } from '../domain/dependents';
import { refuseQuarantined } from '../imports/quarantine';
import { principalOf } from '../queries/group-members';
import { blockingDependents } from '../queries/workflow-model';
import { insertUpdate, type NewUpdate, updateProgress, writeUpdate } from '../store/deployment-updates.sql';
import { type DeploymentRow, findDeployment, readPlan } from '../store/deployments.sql';

export interface InitiateUpdate {
  blueprint_id?: string | null;
  /** Merged over the current inputs. */
  inputs?: JsonObject | null;
  runtime_only_evaluation?: boolean;
  force: boolean;
  /** Parameters of the workflow. */
  [flag: string]: unknown;
}

type Deps = Pick<ServiceDeps, 'db' | 'documents' | 'catalog' | 'executions'>;

/**
 * Stores an update and starts the workflow `update` on the deployment (reference/rest-api.md 5.3), even while another execution
 * runs. Returns the id of the update. A crash between the two leaves an update that stays in state updating and blocks nothing; a
 * repeated request creates another one. With the same `repeatedId` it uses the same update: such a request is repeated until it is
 * answered, so a fault of the platform leaves its update unchanged.
 * @throws AppError not_found_error; dependent_exists_error (the update is stored as failed) unless `force`.
 */
export async function initiateUpdate(
  deps: Deps,
  principal: Principal,
  deploymentId: string,
  body: InitiateUpdate,
  repeatedId?: string,
): Promise<string> {
  const requestId = repeatedId ?? newId();
  const isRepeated = repeatedId !== undefined;
  const row = await findDeployment(deps.db.query, principal, deploymentId);
  if (!row) throw notFound('Deployment', deploymentId);
  requireOwnTenant(principal, row.tenant, `Deployment \`${row.id}\``);
  await refuseQuarantined(deps.db.query, row);
  const blueprintId = await requireBlueprint(deps, principal, body.blueprint_id ?? row.blueprint_id ?? '');
  const dependents = body.force ? [] : await blockingDependents(deps, row);
  const id = updateIdOf(row.id, requestId);
  if ((await updateProgress(deps.db.query, id)) !== null) {
    await startWorkflow(deps, principal, row, { id, requestId, isRepeated }, body);
    return id;
  }
  const isRefused = dependents.length > 0;
  const state = isRefused ? 'failed' : 'updating';
  const update = await newUpdate(deps, principal, row, body, { id, state, blueprintId });
  await deps.db.tx((tx) => insertUpdate(tx, update));
  if (isRefused) throw dependentsError('update', row.id, dependents);
  await startWorkflow(deps, principal, row, { id, requestId, isRepeated }, body);
  return id;
}

/**
 * Stores the update of an execution that updates (csys_update_deployment), together with the result of the call. Returns the id of
 * the update and the parameters of the workflow `update`, which that execution starts itself. Dependents were checked when the
 * execution was accepted.
 * @throws AppError not_found_error, conflict_error, bad_parameters_error.
 */
export async function beginUpdate(
  deps: Deps,
  row: DeploymentRow,
  call: { tenant: string; executionId: string; username: string; request: JsonObject },
  keep: (tx: AnyTx, result: Json) => Promise<void>,
): Promise<Json> {
  const principal = principalOf(call.tenant, { username: call.username, isAdministrator: false });
  const parsed = initiateUpdateBody.strict().safeParse(call.request.parameters);
  if (!parsed.success)
    throw badParameter('parameters', `Parameters of the update do not fit: ${parsed.error.message}`);
  const body: InitiateUpdate = parsed.data as InitiateUpdate;
  const blueprintId = await requireBlueprint(deps, principal, body.blueprint_id ?? row.blueprint_id ?? '');
  const id = updateIdOf(row.id, call.executionId);
  const update = await newUpdate(deps, principal, row, body, { id, state: 'updating', blueprintId });
  const result = { update_id: id, parameters: workflowParameters(id, body) };
  return deps.db.tx(async (tx) => {
    await insertUpdate(tx, update);
    await keep(tx, result);
    return result;
  });
}

async function newUpdate(
  deps: Deps,
  principal: Principal,
  row: DeploymentRow,
  body: InitiateUpdate,
  { id, state, blueprintId }: { id: string; state: 'failed' | 'updating'; blueprintId: string },
): Promise<NewUpdate> {
  const oldInputs = ((await readPlan(deps.db.query, row.key))?.inputs ?? {}) as JsonObject;
  return {
    id,
    deploymentKey: row.key,
    state,
    createdBy: principal.username,
    isAdministrator: isAdministrator(principal),
    oldBlueprintId: row.blueprint_id,
    newBlueprintId: blueprintId,
    oldInputs,
    newInputs: { ...oldInputs, ...body.inputs },
    isRuntimeOnly: body.runtime_only_evaluation ?? row.runtime_only_evaluation,
  };
}

/** Returns the parameters of the workflow: the flags of the request. */
function workflowParameters(updateId: string, body: InitiateUpdate): JsonObject {
  const {
    blueprint_id: _blueprint,
    inputs: _inputs,
    runtime_only_evaluation: _evaluation,
    force: _force,
    ...flags
  } = body;
  return { ...flags, update_id: updateId } as JsonObject;
}

/** Whether the error is final: a repetition would get the same answer. */
export const isRefusal = (error: unknown): boolean => isAppError(error) && error.entry.http < 500;

export const updateIdOf = (deploymentId: string, requestId: string): string => `${deploymentId}-${requestId}`;

async function requireBlueprint(deps: Deps, principal: Principal, id: string): Promise<string> {
  const caller = { username: principal.username, isAdministrator: isAdministrator(principal) };
  const blueprint = await deps.catalog.blueprint(principal.tenant, id, caller);
  if (!blueprint) throw notFound('Blueprint', id);
  if (blueprint.state === 'uploaded') return blueprint.id;
  throw new AppError('conflict_error', `Blueprint \`${id}\` is in state ${blueprint.state}, not uploaded`, {
    field: 'blueprint_id',
    state: blueprint.state,
  });
}

async function startWorkflow(
  deps: Deps,
  principal: Principal,
  row: DeploymentRow,
  update: { id: string; requestId: string; isRepeated: boolean },
  body: InitiateUpdate,
): Promise<void> {
  try {
    const executionId = await deps.executions.startSystemWorkflow({
      tenant: row.tenant,
      requestId: update.requestId,
      createdBy: principal.username,
      deploymentId: row.id,
      deploymentDisplayName: row.display_name,
      blueprintId: row.blueprint_id ?? '',
      visibility: row.visibility,
      workflowId: 'update',
      parameters: workflowParameters(update.id, body),
      // Dependents were checked above, and another execution on the deployment does not block an update.
      force: true,
    });
    await deps.db.tx((tx) => writeUpdate(tx, update.id, { execution_id: executionId }));
  } catch (error) {
    if (!update.isRepeated || isRefusal(error))
      await deps.db.tx((tx) => writeUpdate(tx, update.id, { state: 'failed' }));
    throw error;
  }
}
