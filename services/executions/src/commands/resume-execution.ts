import { executionRequested } from '@baton/contracts';
import { AppError, notFound } from '@baton/kernel';
import { outbox, type Tx } from '@baton/postgres';
import type { DeploymentModel, StageResult } from '@baton/task-graph';
import { isCarriedOutElsewhere } from '../domain/system-workflows';
import type { EngineDeps } from '../engine/deps';
import { goOn, type ResumedStep } from '../engine/resume-graph';
import { afterStep } from '../engine/run-step';
import {
  allowLeavingTheEnd,
  type ExecutionChanges,
  type LockedExecution,
  lockExecution,
  lockGuard,
  readExecution,
  updateExecution,
} from '../store/executions.sql';
import type { DB } from '../store/tables.gen';
import { readGraph, renameStoppedGraphs } from '../store/tasks.sql';
import { codeMapping } from '../store/work.sql';

/**
 * Runs a failed or cancelled execution on from where it stopped (reference/workflows.md 2.9): what succeeded stays, what
 * failed runs again with its retries back. A stage that is no graph is asked for anew under its name.
 * @throws AppError conflict_error in any other state; not_found_error.
 */
export async function resumeExecution(
  deps: EngineDeps,
  executionId: string,
  isForced: boolean,
): Promise<void> {
  const known = await readExecution(deps.db.query, executionId);
  if (!known) throw notFound('Execution', executionId);
  const model = known.deployment_id
    ? (await deps.deployments.model(known.tenant, known.deployment_id)).model
    : null;
  const resumed = await deps.memory.serially(executionId, () =>
    deps.db.tx(async (tx) => {
      if (known.deployment_id !== null) await lockGuard(tx, known.tenant, known.deployment_id);
      const execution = await lockExecution(tx, executionId);
      if (!execution) throw notFound('Execution', executionId);
      if (execution.status === 'started' && !isForced) return null;
      refuseUnlessStopped(execution, isForced);
      return await resumeInTx(tx, deps, execution, model, isForced);
    }),
  );
  if (resumed) afterStep(deps, resumed.context, resumed.step);
  deps.wake.drive(executionId);
}

function refuseUnlessStopped(execution: LockedExecution, isForced: boolean): void {
  const isStopped = execution.status === 'failed' || execution.status === 'cancelled';
  if (isStopped && !isCarriedOutElsewhere(execution)) return;
  const action = isForced ? 'force-resume' : 'resume';
  throw new AppError(
    'conflict_error',
    `Cannot ${action} execution: \`${execution.id}\` in state: \`${execution.status}\``,
    { field: 'action' },
  );
}

const REVIVED: ExecutionChanges = {
  is_resumed: true,
  ended_at: null,
  error: null,
  outcome: null,
  wake_at: null,
  cancel_requested_at: null,
};

async function resumeInTx(
  tx: Tx<DB>,
  deps: EngineDeps,
  execution: LockedExecution,
  model: DeploymentModel | null,
  isForced: boolean,
): Promise<ResumedStep | null> {
  await allowLeavingTheEnd(tx);
  const last = execution.history.at(-1);
  // Programs continue past failures in their middle: only the last one is gone back to.
  const history = last && isFailed(last) ? execution.history.slice(0, -1) : execution.history;
  const isGraphStopped =
    execution.graph_id !== null &&
    execution.stage?.kind === 'graph' &&
    history.every((stage) => stage.name !== execution.stage!.name);
  Object.assign(execution, REVIVED, { history });
  await announceResumed(tx, execution);
  if (isGraphStopped && execution.program === null && !(await isCodeResumable(tx, execution.graph_id!))) {
    await refuseCode(tx, execution);
    return null;
  }
  if (isGraphStopped) {
    const changes: ExecutionChanges = { ...REVIVED, history };
    return await goOn(tx, deps, execution, changes, { isForced, model });
  }
  await renameStoppedGraphs(
    tx,
    execution.id,
    history.map((stage) => stage.name),
  );
  await updateExecution(tx, execution.id, {
    ...REVIVED,
    status: 'pending',
    phase: 'planning',
    stage: null,
    graph_id: null,
    history,
  });
  return null;
}

const SCRIPT = 'script_runner.tasks.execute_workflow';

/** Scripts always run again when somebody asks for it; functions only when they say that they may. */
async function isCodeResumable(tx: Tx<DB>, graphId: string): Promise<boolean> {
  if ((await readGraph(tx, graphId))?.flags.resumable === true) return true;
  return (await codeMapping(tx, graphId)) === SCRIPT;
}

/** The execution fails at once (reference/workflows.md 2.9). */
async function refuseCode(tx: Tx<DB>, execution: LockedExecution): Promise<void> {
  const error = `Cannot resume - workflow not resumable: ${execution.workflow_id}`;
  await updateExecution(tx, execution.id, {
    ...REVIVED,
    status: 'started',
    phase: 'ending',
    outcome: { status: 'failed', error },
  });
}

/** The durable wake-up, and the news for deployments that this execution is the latest again. */
async function announceResumed(tx: Tx<DB>, execution: LockedExecution): Promise<void> {
  await outbox.append(
    tx,
    executionRequested,
    { tenant: execution.tenant, key: execution.id },
    {
      executionId: execution.id,
      deploymentId: execution.deployment_id ?? undefined,
      workflowId: execution.workflow_id,
      isResumed: true,
    },
  );
}

function isFailed(stage: StageResult): boolean {
  return stage.kind === 'graph' ? stage.outcome.kind === 'failed' : stage.error !== undefined;
}
