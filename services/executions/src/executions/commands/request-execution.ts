import { executionAccepted, executionRequested } from '@baton/contracts';
import { AppError, newId } from '@baton/kernel';
import { isUniqueViolation, outbox, outgoing, type Tx } from '@baton/postgres';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { type Admission, admit, leftRunText } from '../domain/admission';
import { type ExecutionQuota, isUnderQuota, noQuota } from '../domain/quota';
import { type RefusalTexts, START_ANYWAY } from '../domain/refusal-texts';
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
import { lockQuota, mustWaitForQuota } from '../store/quotas.sql';
import { type CascadeDeps, type CheckedStart, cascadeOf } from './cascade';
import { requireQueueRoom } from './queue-room';
import { type StartSubject, subjectOf } from './start-subject';

export type RequestExecutionDeps = Pick<
  Ports,
  'accepted' | 'acceptor' | 'db' | 'queue' | 'texts' | 'tokenKey' | 'wake'
> &
  CascadeDeps;

/**
 * Accepts an execution: checks it against the deployment, then writes in one transaction: guard row, admission, row, message.
 * A repeated request id with the same content returns the execution of the first request. `within` runs in the accepting
 * transaction, and may still undo it; it does not run when the execution was there before.
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

/** Sends the wake-ups for an accepted execution after the commit; after a crash before them, its message has the same effect. */
function wakeStarted(deps: RequestExecutionDeps, row: ExecutionRow): void {
  deps.wake.events(row.id);
  if (row.phase === 'planning') deps.wake.drive(row.id);
  // There may be room for it although others are before it in the queue: these may wait for something else.
  if (row.status === 'queued') deps.wake.dequeue();
  if (row.status === 'scheduled') deps.wake.timer(row.id, Date.parse(row.scheduled_for!));
}

/** Accepts the execution together with those that it cascades to (reference/workflows.md 8.4). */
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
 * Accepts all of these starts or none. For each start, its own deployment decides whether it is started, queued or refused. Guards
 * are locked in the order of their deployments. A start that was accepted before is found by its request id.
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

/** Accepts an execution: usually on the fast path; when something may block it, in a transaction with the full admission. */
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
 * Fast path: accepts the execution with one statement, shared with other requests of the same moment. Returns null, with nothing
 * written, when it is no usual start, or when admission must decide.
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
  // This process drives the execution. After a crash: engine/loops/engine.loops.ts (wake-executions).
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

/** Runs the part of a start request that belongs in one transaction; schedules use it as well. */
export async function requestExecutionInTx(
  tx: Tx<DB>,
  deps: Pick<Ports, 'tokenKey' | 'queue' | 'texts'>,
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
  if (admission.kind === 'refuse') throw refusedBeside(admission, deps.texts);
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

/** Returns the columns of an execution's row that come from its request; they are the same for each kind of start. */
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

/** Returns the quota that applies to the start. */
const quotaFor = ({ queue }: Pick<Ports, 'queue'>, request: StartRequest): Readonly<ExecutionQuota> =>
  isUnderQuota(request) ? queue.quota(request.tenant) : noQuota;

async function admissionOf(tx: Tx<DB>, request: StartRequest, quota: Readonly<ExecutionQuota>) {
  const systemWide = await blockingSystemExecutions(tx, request.parentId !== undefined);
  // A scheduled execution blocks nothing until its time has come. A queued one does not block an execution that another execution
  // waits for.
  const ofDeployment =
    request.deploymentId === null
      ? []
      : (await activeOfDeployment(tx, request.tenant, request.deploymentId)).filter(
          (row) => row.status !== 'scheduled' && (request.parentId === undefined || row.phase !== 'waiting'),
        );
  const left = request.deploymentId === null ? [] : await leftRuns(tx, request.tenant, request.deploymentId);
  const isExclusive = isSystemWideRequest(request);
  const atWork = isExclusive ? await executionsAtWork(tx, null) : [];
  const isQuotaReached = await mustWaitForQuota(tx, request.tenant, quota);
  const facts = {
    ...{ systemWide: systemWide.map((row) => row.id), ofDeployment, leftRuns: left, atWork },
    isQuotaReached,
  };
  return admit({ ...request, isSystemWide: isExclusive }, facts);
}

/** Checks the parent under its lock: from now on, a cancel of the parent finds this execution, or this one is not started. */
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
 * Checks a waiting execution as if it was requested now: its workflow, availability and parameters. Returns its present parameters
 * with the present defaults, its present blueprint and program (reference/workflows.md 1.2, 3.2).
 * @throws AppError as requestExecution does.
 */
export async function checkAgain(deps: RequestExecutionDeps, row: ExecutionRow): Promise<StartSubject> {
  return await subjectOf(deps, requestOf(row));
}

/** Returns the request that an execution was stored for; its permission was checked at that time. */
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

/** `advice`: what the caller may do about it. */
export function alreadyRunning(ids: string[], advice: string): AppError {
  return runningError(
    ids,
    `The following executions are currently running for this deployment: ${ids.join(', ')}. ${advice}`,
  );
}

const runningError = (executions: string[], message: string): AppError =>
  new AppError('existing_running_execution_error', message, { field: 'deployment_id', executions });

/** Returns the refusal, with the blocking executions, or the operations of ended executions that workers still run. */
function refusedBeside(
  { isSystemWide: isExclusive, blockers, leftRuns }: Extract<Admission, { kind: 'refuse' }>,
  texts: RefusalTexts,
): AppError {
  if (blockers.length === 0) return stillRunning(leftRuns);
  const text = isExclusive ? texts.blockedSystemWide(blockers) : texts.blockedStart(blockers);
  return runningError(blockers, text);
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
