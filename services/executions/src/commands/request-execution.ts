import { executionRequested } from '@baton/contracts';
import { AppError, badParameter, isAppError, type JsonObject, newId } from '@baton/kernel';
import { isUniqueViolation, outbox, outgoing, type Tx } from '@baton/postgres';
import { admit } from '../domain/admission';
import type { NameSources } from '../domain/candidates';
import { requestedOf } from '../domain/requested';
import { payloadHash, type StartRequest } from '../domain/start-request';
import {
  isSystemWide,
  isSystemWorkflowName,
  refuseStartedElsewhere,
  UPDATE_DEPLOYMENT,
} from '../domain/system-workflows';
import { executionToken, hashToken } from '../domain/token';
import { checkStart } from '../domain/workflow-check';
import type { EngineDeps } from '../engine/deps';
import {
  acceptExecution,
  activeOfDeployment,
  insertExecution,
  lockExecution,
  lockGuard,
  type NewExecution,
  rootDeployment,
  twinOf,
} from '../store/executions.sql';
import { blockingSystemExecutions, executionsAtWork, lockStartOf, lockStarts } from '../store/queue.sql';
import type { ExecutionRow } from '../store/rows';
import type { DB } from '../store/tables.gen';

/**
 * Accepts an execution: checks it against the deployment, then one transaction: guard row, admission, row, message.
 * The same request id with the same content answers the execution that it made before.
 * @throws AppError not_found_error, nonexistent_workflow_error, unavailable_workflow_error, dependent_exists_error,
 *   illegal_execution_parameters_error, existing_running_execution_error, conflict_error (request id reused).
 */
export async function requestExecution(deps: EngineDeps, request: StartRequest): Promise<ExecutionRow> {
  const hash = payloadHash(request);
  const earlier = await twinOf(deps.db.query, request);
  if (earlier) return sameRequest(earlier, hash);
  const subject = await subjectOf(deps, request);
  const row = await accepted(deps, request, subject, hash).catch(async (error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    const winner = await twinOf(deps.db.query, request);
    if (!winner) throw error;
    return sameRequest(winner, hash);
  });
  if (row.phase === 'planning') deps.wake.drive(row.id);
  if (row.status === 'scheduled') deps.wake.timer(row.id, Date.parse(row.scheduled_for!));
  return row;
}

/** In one statement where nothing is in its way, as is usual; else in a transaction that looks at what is. */
async function accepted(
  deps: EngineDeps,
  request: StartRequest,
  subject: StartSubject,
  hash: string,
): Promise<ExecutionRow> {
  const isUsual = request.scheduledForMs === null && request.parentId === undefined;
  if (isUsual && request.deploymentId !== null && !isSystemWideRequest(request)) {
    const row: NewExecution = {
      ...requestedRow(deps, request, subject, newId()),
      payload_hash: hash,
      status: 'pending',
      phase: 'planning',
      scheduled_for: null,
      wake_at: null,
    };
    const message = outgoing(executionRequested, { tenant: row.tenant, key: row.id }, requestedOf(row));
    const taken = await acceptExecution(deps.db, row, message);
    if (taken) {
      deps.memory.noteAccepted(taken);
      return taken;
    }
  }
  return await deps.db.tx((tx) => requestExecutionInTx(tx, deps, request, subject, hash));
}

function sameRequest(row: ExecutionRow, hash: string): ExecutionRow {
  if (row.payload_hash === hash) return row;
  throw new AppError('conflict_error', 'The idempotency key was used before with another request', {
    field: 'Idempotency-Key',
    execution_id: row.id,
  });
}

/** What the execution runs on, after all checks that need other services. */
export interface StartSubject {
  blueprintId: string | null;
  displayName: string | null;
  visibility: string;
  program: string | null;
  parameters: StartRequest['parameters'];
}

/** @throws AppError as requestExecution does of what the deployment refuses. */
export async function subjectOf(deps: EngineDeps, request: StartRequest): Promise<StartSubject> {
  if (request.deploymentId === null) {
    if (!isSystemWorkflowName(request.workflowId)) {
      throw new AppError(
        'nonexistent_workflow_error',
        `${request.workflowId} is no system workflow, and no deployment is given`,
        {
          field: 'workflow_id',
        },
      );
    }
    if (request.isOfClient) refuseStartedElsewhere(request.workflowId);
    if (request.workflowId === UPDATE_DEPLOYMENT)
      throw badParameter('deployment_id', `${UPDATE_DEPLOYMENT} updates a deployment`, {
        expected: 'the id of a deployment',
      });
    return {
      blueprintId: null,
      displayName: null,
      visibility: 'tenant',
      program: null,
      parameters: request.parameters,
    };
  }
  const caller = { username: request.createdBy, isAdministrator: request.isAdministrator };
  const leaving = await leavingWith(deps, request);
  const facts = await deps.deployments.facts(request.tenant, request.deploymentId, caller, leaving);
  const evaluate = (payload: JsonObject) =>
    deps.deployments.evaluate(request.tenant, facts.id, request.createdBy, payload);
  const checked = await checkStart(request, facts, evaluate, nameSources(deps, request, facts.id));
  return {
    blueprintId: facts.blueprintId,
    displayName: facts.displayName,
    visibility: facts.visibility,
    ...checked,
  };
}

/**
 * The deployment below which everything goes with this execution, so that dependents from there do not block it: its own
 * when it is recursive, that of the first one when it is nested (reference/rest-api.md 6.6); none: ''.
 */
export async function leavingWith(
  deps: Pick<EngineDeps, 'db'>,
  request: Pick<StartRequest, 'deploymentId' | 'parameters' | 'parentId'>,
): Promise<string> {
  if (request.parentId !== undefined) return await rootDeployment(deps.db.query, request.parentId);
  return request.parameters.recursive === true ? (request.deploymentId ?? '') : '';
}

/** Names that parameters of object types refer to; the model is read at the first that needs it. */
export function nameSources(deps: EngineDeps, request: StartRequest, deploymentId: string): NameSources {
  let model: ReturnType<NameSources['model']> | null = null;
  const caller = { username: request.createdBy, isAdministrator: request.isAdministrator };
  return {
    model: () =>
      (model ??= deps.deployments
        .model(request.tenant, deploymentId, { isWhole: true })
        .then((answer) => answer.model)),
    hasBlueprint: (id) => deps.catalog.hasBlueprint(request.tenant, id),
    hasDeployment: (id) =>
      deps.deployments.facts(request.tenant, id, caller).then(
        () => true,
        (error: unknown) => {
          if (isAppError(error, 'not_found_error')) return false;
          throw error;
        },
      ),
  };
}

/** The part of a start request that is one transaction: schedules use it as well. */
export async function requestExecutionInTx(
  tx: Tx<DB>,
  deps: Pick<EngineDeps, 'tokenKey'>,
  request: StartRequest,
  subject: StartSubject,
  hash: string,
): Promise<ExecutionRow> {
  const isExclusive = isSystemWideRequest(request);
  if (request.deploymentId !== null && !isExclusive)
    await lockStartOf(tx, request.tenant, request.deploymentId);
  else {
    await lockStarts(tx, isExclusive);
    await lockGuard(tx, request.deploymentId === null ? '' : request.tenant, request.deploymentId ?? '');
  }
  // A twin of this request may have been first to the guard.
  const twin = await twinOf(tx, request);
  if (twin) return sameRequest(twin, hash);
  if (request.parentId !== undefined) await requireCalling(tx, request.parentId);
  const isScheduled = request.scheduledForMs !== null;
  const admission = isScheduled ? ({ kind: 'start' } as const) : await admissionOf(tx, request);
  if (admission.kind === 'refuse') throw alreadyRunning(admission.blockers);
  const status = isScheduled ? 'scheduled' : admission.kind === 'queue' ? 'queued' : 'pending';
  const scheduledFor = isScheduled ? new Date(request.scheduledForMs!).toISOString() : null;
  const id = newId();
  const row = await insertExecution(tx, {
    ...requestedRow(deps, request, subject, id),
    payload_hash: hash,
    status,
    phase: status === 'pending' ? 'planning' : 'waiting',
    scheduled_for: scheduledFor,
    wake_at: scheduledFor,
  });
  if (status === 'pending')
    await outbox.append(tx, executionRequested, { tenant: row.tenant, key: id }, requestedOf(row));
  return row;
}

/** What the row of an execution has of its request, wherever it begins. */
export function requestedRow(
  deps: Pick<EngineDeps, 'tokenKey'>,
  request: StartRequest,
  subject: StartSubject,
  id: string,
) {
  return {
    id,
    tenant: request.tenant,
    request_id: request.requestId ?? id,
    workflow_id: request.workflowId,
    program: subject.program,
    deployment_id: request.deploymentId,
    deployment_display_name: subject.displayName,
    blueprint_id: subject.blueprintId,
    visibility: subject.visibility,
    created_by: request.createdBy,
    parameters: subject.parameters,
    is_system_workflow: request.isSystemWorkflow,
    is_dry_run: request.isDryRun,
    is_forced: request.isForced,
    allow_custom_parameters: request.allowCustomParameters,
    wait_after_fail_s: request.waitAfterFailS,
    token_hash: hashToken(executionToken(deps.tokenKey, id)),
    parent_id: request.parentId ?? null,
  };
}

async function admissionOf(tx: Tx<DB>, request: StartRequest) {
  const systemWide = await blockingSystemExecutions(tx, request.parentId !== undefined);
  // One that is scheduled for later waits for its time and is in nobody's way until then.
  const ofDeployment =
    request.deploymentId === null
      ? []
      : (await activeOfDeployment(tx, request.tenant, request.deploymentId)).filter(
          (row) => row.status !== 'scheduled',
        );
  const isExclusive = isSystemWideRequest(request);
  const atWork = isExclusive ? await executionsAtWork(tx, null) : [];
  const facts = { systemWide: systemWide.map((row) => row.id), ofDeployment, atWork };
  return admit({ ...request, isSystemWide: isExclusive }, facts);
}

/** The parent under its lock: whoever cancels it finds this execution from now on, or it is not started. */
async function requireCalling(tx: Tx<DB>, parentId: string): Promise<void> {
  if ((await lockExecution(tx, parentId))?.phase !== 'calling')
    throw new AppError('conflict_error', `Execution ${parentId} does not wait for this one any more`);
}

const isSystemWideRequest = (request: StartRequest): boolean =>
  isSystemWide({
    workflow_id: request.workflowId,
    deployment_id: request.deploymentId,
    is_system_workflow: request.isSystemWorkflow,
  });

/**
 * Checks an execution that waited as if it was asked for now: its workflow, availability and parameters.
 * @throws AppError as requestExecution does.
 */
export async function checkAgain(deps: EngineDeps, row: ExecutionRow): Promise<void> {
  await subjectOf(deps, {
    tenant: row.tenant,
    createdBy: row.created_by,
    isAdministrator: true,
    requestId: row.request_id,
    workflowId: row.workflow_id,
    deploymentId: row.deployment_id,
    parameters: row.parameters,
    allowCustomParameters: row.allow_custom_parameters,
    isForced: row.is_forced,
    mayQueue: true,
    isDryRun: row.is_dry_run,
    waitAfterFailS: row.wait_after_fail_s,
    scheduledForMs: null,
    isSystemWorkflow: row.is_system_workflow,
    ...(row.parent_id === null ? {} : { parentId: row.parent_id }),
  });
}

const START_ANYWAY = 'To execute this workflow anyway, pass "force=true"; to run it after them, "queue=true"';

/** `advice`: what the caller may do about it. */
export function alreadyRunning(ids: string[], advice = START_ANYWAY): AppError {
  return new AppError(
    'existing_running_execution_error',
    `The following executions are currently running for this deployment: ${ids.join(', ')}. ${advice}`,
    { field: 'deployment_id', executions: ids },
  );
}
