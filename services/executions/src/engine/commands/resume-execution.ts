import { executionRequested } from '@baton/contracts';
import { AppError, notFound, requireFormat } from '@baton/kernel';
import { outbox, type Tx } from '@baton/postgres';
import { type DeploymentModel, isResumable, type StageResult } from '@baton/task-graph';
import { alreadyRunning, stillRunning } from '../../executions/commands/request-execution';
import { isImported } from '../../executions/domain/imported';
import { isUnderQuota, noQuota, noRoomToResume } from '../../executions/domain/quota';
import { requestedOf } from '../../executions/domain/requested';
import { isCarriedOutElsewhere } from '../../executions/domain/system-workflows';
import {
  activeOfDeployment,
  allowLeavingTheEnd,
  type ExecutionChanges,
  type LockedExecution,
  lockExecution,
  lockGuard,
  readExecution,
  updateExecution,
} from '../../executions/store/executions.sql';
import { leftRuns } from '../../executions/store/left-runs.sql';
import { blockingSystemExecutions, lockStarts } from '../../executions/store/queue.sql';
import { isRunningFull, lockQuota } from '../../executions/store/quotas.sql';
import type { Ports } from '../../ports';
import { type ExecutionRow, HISTORY_FORMAT } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { cancelOf } from '../domain/cancel';
import { goOn } from '../steps/resume-graph';
import { afterStep, type RunStepDeps, type WrittenStep } from '../steps/run-step';
import { readGraph, renameStoppedGraphs } from '../store/tasks.sql';
import { codeMapping } from '../store/work.sql';

export type ResumeExecutionDeps = Pick<Ports, 'db' | 'deployments' | 'queue' | 'turns' | 'wake'> &
  RunStepDeps;

export interface ResumeOptions {
  /** First call in the transaction; it may still refuse the resume. */
  isAllowed?: (tx: Tx<DB>) => Promise<boolean>;
  /** Resumes also while another execution of the deployment is at work, as in the original. */
  mayRunBeside?: boolean;
  /** The execution whose resume also resumes this one; if that one is cancelled by then, this one is not resumed. */
  along?: string;
}

/**
 * Continues a failed or cancelled execution from the point where it stopped (reference/workflows.md 2.9): succeeded operations
 * stay, failed ones run again with all their retries. A stage that is no graph is carried out again under its name. Returns whether
 * the execution goes on.
 * @throws AppError conflict_error in any other state; existing_running_execution_error; not_found_error;
 *   too_many_requests_error where the tenant's quota has no room.
 */
export async function resumeExecution(
  deps: ResumeExecutionDeps,
  executionId: string,
  isForced: boolean,
  { isAllowed, mayRunBeside = false, along }: ResumeOptions = {},
): Promise<boolean> {
  const known = await readExecution(deps.db.query, executionId);
  if (!known) throw notFound('Execution', executionId);
  const present = known.deployment_id
    ? await deps.deployments.model(known.tenant, known.deployment_id)
    : null;
  const resumed = await deps.turns.take(executionId, () =>
    deps.db.tx(async (tx) => {
      if (isAllowed && !(await isAllowed(tx))) return 'refused';
      const quota = quotaFor(deps, known, along);
      await lockQuota(tx, known.tenant, quota);
      await lockStarts(tx, false);
      if (known.deployment_id !== null) await lockGuard(tx, known.tenant, known.deployment_id);
      if (along !== undefined && (await isCancelled(tx, along, executionId))) return 'refused';
      const execution = await lockExecution(tx, executionId);
      if (!execution) throw notFound('Execution', executionId);
      requireFormat(HISTORY_FORMAT, execution.format, `execution ${executionId}`);
      if (execution.status === 'started' && !isForced) return null;
      refuseUnlessStopped(execution, isForced);
      await refuseBesideSystemWide(tx, execution);
      if (!isForced && !mayRunBeside) await refuseBesideOthers(tx, execution);
      if (await isRunningFull(tx, known.tenant, quota))
        throw noRoomToResume(known.tenant, quota.running!, quota.running!);
      return await resumeInTx(tx, deps, execution, present, isForced);
    }),
  );
  if (resumed === 'refused') return false;
  if (resumed) {
    resumed.decided.commit(resumed.row);
    afterStep(deps, resumed.decided.context, resumed.decided.step);
  }
  deps.wake.drive(executionId);
  return true;
}

/**
 * Returns whether an execution is cancelled or being cancelled. It is read under its lock, so a later cancel finds the executions
 * that go on with it. Both executions are locked in the order of their ids, like the executions of several steps.
 */
async function isCancelled(tx: Tx<DB>, id: string, before: string): Promise<boolean> {
  if (before < id) await lockExecution(tx, before);
  const { status } = (await lockExecution(tx, id)) ?? { status: 'cancelled' };
  return status === 'cancelled' || cancelOf(status) !== null;
}

/** An execution that is resumed along with another one is awaited by that one, so no quota applies to it. */
function quotaFor({ queue }: ResumeExecutionDeps, execution: ExecutionRow, along: string | undefined) {
  const { tenant, parent_id: parentId, is_system_workflow: isSystemWorkflow } = execution;
  const isLimited = along === undefined && isUnderQuota({ parentId, isSystemWorkflow });
  return isLimited ? queue.quota(tenant) : noQuota;
}

function refuseUnlessStopped(execution: LockedExecution, isForced: boolean): void {
  if (isImported(execution))
    throw new AppError(
      'conflict_error',
      `Execution \`${execution.id}\` was carried out by another manager, so it cannot be resumed here: start its workflow again`,
      { field: 'action' },
    );
  const isStopped = execution.status === 'failed' || execution.status === 'cancelled';
  if (isStopped && !isCarriedOutElsewhere(execution)) return;
  const action = isForced ? 'force-resume' : 'resume';
  throw new AppError(
    'conflict_error',
    `Cannot ${action} execution: \`${execution.id}\` in state: \`${execution.status}\``,
    { field: 'action' },
  );
}

/** Nothing is resumed beside a system-wide execution at work, not even by force. A queued system-wide one waits for this one. */
async function refuseBesideSystemWide(tx: Tx<DB>, { id }: LockedExecution): Promise<void> {
  const others = (await blockingSystemExecutions(tx, true)).map((other) => other.id);
  if (others.length > 0) throw alreadyRunning(others, `Resume ${id} after them`);
}

/** A deployment has one running execution, unless the execution was started by force or is resumed by force. */
async function refuseBesideOthers(tx: Tx<DB>, execution: LockedExecution): Promise<void> {
  const { id, tenant, deployment_id: deploymentId, is_forced } = execution;
  if (deploymentId === null || is_forced) return;
  const others = (await activeOfDeployment(tx, tenant, deploymentId)).filter(
    ({ phase }) => phase !== 'waiting',
  );
  if (others.length > 0)
    throw alreadyRunning(
      others.map((other) => other.id),
      `Resume ${id} after them, or use force-resume`,
    );
  // Runs that are left of this execution itself are taken up again by its resume.
  const left = await leftRuns(tx, tenant, deploymentId, id);
  if (left.length > 0) throw stillRunning(left, `Resume ${id} after them, or use force-resume`);
}

const REVIVED: ExecutionChanges = {
  is_resumed: true,
  ended_at: null,
  error: null,
  outcome: null,
  wake_at: null,
  cancel_requested_at: null,
  cancel_deadline: null,
  resume_wish: null,
};

async function resumeInTx(
  tx: Tx<DB>,
  deps: ResumeExecutionDeps,
  execution: LockedExecution,
  present: { model: DeploymentModel; blueprintId: string } | null,
  isForced: boolean,
): Promise<WrittenStep | null> {
  await allowLeavingTheEnd(tx);
  const last = execution.history.at(-1);
  // Programs continue past failures of earlier stages: only a failed last stage is carried out again.
  const history = last && isFailed(last) ? execution.history.slice(0, -1) : execution.history;
  const isGraphStopped =
    execution.graph_id !== null &&
    execution.stage?.kind === 'graph' &&
    history.every((stage) => stage.name !== execution.stage!.name);
  // The deployment may have been updated meanwhile. Workflow code must stay the same when it runs again: it asks for the same work.
  const isMoved = execution.program !== null && present !== null;
  const of = isMoved ? { blueprint_id: present.blueprintId } : {};
  Object.assign(execution, REVIVED, of, { history });
  await announceResumed(tx, execution);
  if (!(await mayGoOn(tx, execution, isGraphStopped))) {
    await refuse(tx, execution);
    return null;
  }
  if (isGraphStopped) {
    const changes: ExecutionChanges = { ...REVIVED, ...of, history };
    return await goOn(tx, deps, execution, changes, { isForced, model: present?.model ?? null });
  }
  await renameStoppedGraphs(
    tx,
    execution.id,
    history.map((stage) => stage.name),
  );
  await updateExecution(tx, execution.id, {
    ...REVIVED,
    ...of,
    version: execution.version + 1,
    status: 'pending',
    phase: 'planning',
    stage: null,
    graph_id: null,
    history,
  });
  return null;
}

const SCRIPT = 'script_runner.tasks.execute_workflow';

/** Scripts always run again on a resume; functions only when they have declared that they may. */
async function isCodeResumable(tx: Tx<DB>, graphId: string): Promise<boolean> {
  if ((await readGraph(tx, graphId))?.flags.resumable === true) return true;
  return (await codeMapping(tx, graphId)) === SCRIPT;
}

/** Returns whether a resume may continue the execution; this is checked before anything of it runs. */
async function mayGoOn(tx: Tx<DB>, execution: LockedExecution, isGraphStopped: boolean): Promise<boolean> {
  if (execution.program !== null) return isResumable(execution.program);
  return !isGraphStopped || (await isCodeResumable(tx, execution.graph_id!));
}

/** The execution fails at once (reference/workflows.md 2.9). */
async function refuse(tx: Tx<DB>, execution: LockedExecution): Promise<void> {
  const error = `Cannot resume - workflow not resumable: ${execution.workflow_id}`;
  await updateExecution(tx, execution.id, {
    ...REVIVED,
    version: execution.version + 1,
    status: 'started',
    phase: 'ending',
    outcome: { status: 'failed', error },
  });
}

/**
 * Appends the durable wake-up, which also tells deployments that this execution is the latest again. In each case the row gets the
 * next version in this transaction: an end from before the resume is older than this, whenever it arrives.
 */
async function announceResumed(tx: Tx<DB>, execution: LockedExecution): Promise<void> {
  await outbox.append(
    tx,
    executionRequested,
    { tenant: execution.tenant, key: execution.id },
    requestedOf({ ...execution, version: execution.version + 1 }, true),
  );
}

function isFailed(stage: StageResult): boolean {
  return stage.kind === 'graph' ? stage.outcome.kind === 'failed' : stage.error !== undefined;
}
