import { executionAccepted, executionRequested } from '@baton/contracts';
import { AppError, newId } from '@baton/kernel';
import { isUniqueViolation, outbox, outgoing, type Tx } from '@baton/postgres';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { type Admission, admit, leftRunText } from '../domain/admission';
import { type ExecutionQuota, isUnderQuota, noQuota } from '../domain/quota';
import { requestedOf } from '../domain/requested';
import { payloadHash, type StartRequest, startRequest } from '../domain/start-request';
import { isSystemWide } from '../domain/system-workflows';
import { executionToken, hashToken } from '../domain/token';
import { keptWaitAfterFail } from '../domain/wait-after-fail';
import {
  activeOfDeployment,
  insertExecution,
  lockExecution,
  lockGuard,
  type NewExecution,
  twinOf,
} from '../store/executions.sql';
import { type LeftRun, leftRuns } from '../store/left-runs.sql';
import { blockingSystemExecutions, executionsAtWork, lockStartOf, lockStarts } from '../store/queue.sql';
import { isRunningFull, lockQuota } from '../store/quotas.sql';
import { type CascadeDeps, type CheckedStart, cascadeOf } from './cascade';
import { requireQueueRoom } from './queue-room';
import { type StartSubject, subjectOf } from './start-subject';

export type RequestExecutionDeps = Pick<
  Ports,
  'accepted' | 'acceptor' | 'db' | 'queue' | 'tokenKey' | 'wake'
> &
  CascadeDeps;

/**
 * Accepts an execution: checks it against the deployment, then one transaction: guard row, admission, row, message.
 * The same request id with the same content answers the execution that it made before. `within` is done in the transaction that
 * accepts it, which it may still undo; not when the execution was there before.
 * @throws AppError not_found_error, nonexistent_workflow_error, unavailable_workflow_error, dependent_exists_error,
 *   illegal_execution_parameters_error, existing_running_execution_error, conflict_error (request id reused).
 */
export async function requestExecution(
  deps: RequestExecutionDeps,
  request: StartRequest,
  within?: Within,
): Promise<ExecutionRow> {
  const hash = payloadHash(request);
  const earlier = await twinOf(deps.db.query, request);
  if (earlier) return sameRequest(earlier, hash);
  const subject = await subjectOf(deps, request);
  const start = subject.isCascading ? acceptedCascade : accepted;
  const row = await start(deps, request, subject, hash, within).catch(async (error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    const winner = await twinOf(deps.db.query, request);
    if (!winner) throw error;
    return sameRequest(winner, hash);
  });
  wakeStarted(deps, row);
  return row;
}

type Within = (tx: Tx<DB>, accepted: ExecutionRow) => Promise<void>;

/** What the acceptor of an execution does after its commit; its message repairs a crash before. */
function wakeStarted(deps: RequestExecutionDeps, row: ExecutionRow): void {
  if (row.phase === 'planning') deps.wake.drive(row.id);
  if (row.status === 'scheduled') deps.wake.timer(row.id, Date.parse(row.scheduled_for!));
}

/** The execution with those that it cascades to (reference/workflows.md 8.4). */
async function acceptedCascade(
  deps: RequestExecutionDeps,
  request: StartRequest,
  subject: StartSubject,
  _hash: string,
  within?: Within,
): Promise<ExecutionRow> {
  const starts = await cascadeOf(deps, { ...request, requestId: request.requestId ?? newId() }, subject);
  const first = starts[0]!;
  const done =
    within && ((tx: Tx<DB>, rows: ReadonlyMap<CheckedStart, ExecutionRow>) => within(tx, rows.get(first)!));
  return (await acceptTogether(deps, starts, done)).get(first)!;
}

/**
 * Accepts all of these starts or none, each queued or refused as its own deployment allows. Guards are locked in the order
 * of their deployments. What was accepted before is found by its request id.
 */
export async function acceptTogether(
  deps: RequestExecutionDeps,
  starts: readonly CheckedStart[],
  within?: (tx: Tx<DB>, rows: ReadonlyMap<CheckedStart, ExecutionRow>) => Promise<void>,
): Promise<ReadonlyMap<CheckedStart, ExecutionRow>> {
  const inOrder = [...starts].sort((a, b) => (a.request.deploymentId! < b.request.deploymentId! ? -1 : 1));
  const rows = await deps.db.tx(async (tx) => {
    const accepted = new Map<CheckedStart, ExecutionRow>();
    for (const start of inOrder) {
      const { request, subject } = start;
      accepted.set(start, await requestExecutionInTx(tx, deps, request, subject, payloadHash(request)));
    }
    await within?.(tx, accepted);
    return accepted;
  });
  for (const row of rows.values()) wakeStarted(deps, row);
  return rows;
}

/** At once where nothing is in its way, as is usual; else in a transaction that looks at what is. */
async function accepted(
  deps: RequestExecutionDeps,
  request: StartRequest,
  subject: StartSubject,
  hash: string,
  within?: Within,
): Promise<ExecutionRow> {
  const taken = within ? null : await acceptAtOnce(deps, request, subject, hash);
  if (taken) return taken;
  return await deps.db.tx(async (tx) => {
    const row = await requestExecutionInTx(tx, deps, request, subject, hash);
    await within?.(tx, row);
    return row;
  });
}

/**
 * Fast path: one statement, shared with what is asked for at the same moment. Null: it is no usual start, or there is something
 * that admission decides about; then nothing was written.
 */
export async function acceptAtOnce(
  deps: Pick<Ports, 'acceptor' | 'accepted' | 'tokenKey' | 'queue'>,
  request: StartRequest,
  subject: StartSubject,
  hash: string,
): Promise<ExecutionRow | null> {
  if (request.scheduledForMs !== null || request.parentId !== undefined) return null;
  if (request.deploymentId === null || isSystemWideRequest(request)) return null;
  const row: NewExecution = {
    ...requestedRow(deps, request, subject, newId()),
    payload_hash: hash,
    status: 'pending',
    phase: 'planning',
    scheduled_for: null,
    wake_at: null,
  };
  // This process drives it. After a crash: engine/loops/engine.loops.ts (wake-executions).
  const message = outgoing(executionAccepted, { tenant: row.tenant, key: row.id }, requestedOf(row));
  const taken = await deps.acceptor.accept(row, message, quotaFor(deps, request).running);
  if (taken) deps.accepted.note(taken);
  return taken;
}

function sameRequest(row: ExecutionRow, hash: string): ExecutionRow {
  if (row.payload_hash === hash) return row;
  throw new AppError('conflict_error', 'The idempotency key was used before with another request', {
    field: 'Idempotency-Key',
    execution_id: row.id,
  });
}

/** The part of a start request that is one transaction: schedules use it as well. */
export async function requestExecutionInTx(
  tx: Tx<DB>,
  deps: Pick<Ports, 'tokenKey' | 'queue'>,
  request: StartRequest,
  subject: StartSubject,
  hash: string,
): Promise<ExecutionRow> {
  const isExclusive = isSystemWideRequest(request);
  const quota = quotaFor(deps, request);
  await lockQuota(tx, request.tenant, quota);
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
  const admission = isScheduled ? ({ kind: 'start' } as const) : await admissionOf(tx, request, quota);
  if (admission.kind === 'refuse') throw refusedBeside(admission);
  const status = isScheduled ? 'scheduled' : admission.kind === 'queue' ? 'queued' : 'pending';
  if (status !== 'pending') await requireQueueRoom(tx, request.tenant, quota, 1);
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
  deps: Pick<Ports, 'tokenKey'>,
  request: StartRequest,
  subject: Omit<StartSubject, 'isCascading'>,
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
    deployment_made_by: subject.madeBy,
    blueprint_id: subject.blueprintId,
    visibility: subject.visibility,
    created_by: request.createdBy,
    parameters: subject.parameters,
    is_system_workflow: request.isSystemWorkflow,
    is_dry_run: request.isDryRun,
    is_forced: request.isForced,
    allow_custom_parameters: request.allowCustomParameters,
    wait_after_fail_s: keptWaitAfterFail(request.waitAfterFailS),
    token_hash: hashToken(executionToken(deps.tokenKey, id)),
    parent_id: request.parentId ?? null,
  };
}

/** The quota that the start is under. */
const quotaFor = ({ queue }: Pick<Ports, 'queue'>, request: StartRequest): Readonly<ExecutionQuota> =>
  isUnderQuota(request) ? queue.quota(request.tenant) : noQuota;

async function admissionOf(tx: Tx<DB>, request: StartRequest, quota: Readonly<ExecutionQuota>) {
  const systemWide = await blockingSystemExecutions(tx, request.parentId !== undefined);
  // One that is scheduled for later waits for its time and is in nobody's way until then; nor is one in the queue in the way
  // of what another execution waits for.
  const ofDeployment =
    request.deploymentId === null
      ? []
      : (await activeOfDeployment(tx, request.tenant, request.deploymentId)).filter(
          (row) => row.status !== 'scheduled' && (request.parentId === undefined || row.phase !== 'waiting'),
        );
  const left = request.deploymentId === null ? [] : await leftRuns(tx, request.tenant, request.deploymentId);
  const isExclusive = isSystemWideRequest(request);
  const atWork = isExclusive ? await executionsAtWork(tx, null) : [];
  const isQuotaReached = await isRunningFull(tx, request.tenant, quota);
  const facts = {
    ...{ systemWide: systemWide.map((row) => row.id), ofDeployment, leftRuns: left, atWork },
    isQuotaReached,
  };
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
 * Checks an execution that waited as if it was asked for now: its workflow, availability and parameters. Answers what it
 * runs with now: parameters with the defaults of now, blueprint and program of now (reference/workflows.md 1.2, 3.2).
 * @throws AppError as requestExecution does.
 */
export async function checkAgain(deps: RequestExecutionDeps, row: ExecutionRow): Promise<StartSubject> {
  return await subjectOf(deps, requestOf(row));
}

/** The request that an execution was stored for; whoever may start it was asked then. */
export function requestOf(row: ExecutionRow): StartRequest {
  return startRequest({
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

/** What is in its way: executions, or operations that workers still run of those that have ended. */
function refusedBeside({ blockers, leftRuns }: Extract<Admission, { kind: 'refuse' }>): AppError {
  return blockers.length > 0 ? alreadyRunning(blockers) : stillRunning(leftRuns);
}

/** `advice`: what the caller may do about it. */
export function stillRunning(left: readonly LeftRun[], advice = START_ANYWAY): AppError {
  return new AppError(
    'existing_running_execution_error',
    `Operations are still running for this deployment: ${left.map(leftRunText).join('; ')}. A kill of their execution stops them. ${advice}`,
    {
      field: 'deployment_id',
      executions: [...new Set(left.map((run) => run.execution_id))],
      operations: left.map((run) => run.task_id),
    },
  );
}
