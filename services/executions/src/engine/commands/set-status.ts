import { AppError, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { ExecutionStatus } from '@baton/task-graph';
import {
  type ExecutionChanges,
  type LockedExecution,
  lockExecution,
  NOW,
  readExecution,
  updateExecution,
} from '../../executions/store/executions.sql';
import { updateGroup } from '../../groups/store/execution-groups.sql';
import type { ExecutionRow, KilledRun, Outcome } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { cancelOf } from '../domain/cancel';
import type { EnginePorts } from '../ports';
import { renameStoppedGraphs, requestKill } from '../store/tasks.sql';
import {
  afterCancel,
  type CancelExecutionDeps,
  type Cancelled,
  cancelLocked,
  stopGraph,
} from './cancel-execution';

type SetStatusDeps = Pick<EnginePorts, 'db' | 'memory' | 'turns' | 'wake'> & CancelExecutionDeps;

const ENDS = new Set<ExecutionStatus>(['terminated', 'failed', 'cancelled']);
const WAITING = new Set<ExecutionStatus>(['queued', 'scheduled']);
const CANCELLING = new Set<ExecutionStatus>(['cancelling', 'force_cancelling']);
const AFTER_CANCELLING = new Set<ExecutionStatus>(['cancelled', 'failed', 'queued', 'scheduled']);

/**
 * Sets a status on behalf of clients of the API (reference/rest-api.md 6.1). An end status ends the execution in the same way as
 * its workflow would: effects are delivered, one terminal event is written; running operations end by themselves. A cancelling
 * status cancels the execution, as the action does. A waiting status stops its running operations. If the process crashes after the
 * commit, engine/loops/engine.loops.ts (wake-executions) goes on.
 * @throws AppError invalid_exception_status_update for a transition that the table refuses; not_found_error.
 */
export async function setStatus(
  deps: SetStatusDeps,
  executionId: string,
  status: ExecutionStatus,
  error: string,
): Promise<void> {
  const mode = cancelOf(status);
  const known = await readExecution(deps.db.query, executionId);
  const then = await deps.turns.take(executionId, () =>
    deps.db.tx(async (tx): Promise<Cancelled | 'drive' | 'nothing' | KilledRun[]> => {
      // The group is locked before the execution, as everywhere. A queued execution of a group is started only by its group.
      if (WAITING.has(status) && known?.execution_group_id)
        await updateGroup(tx, known.tenant, known.execution_group_id, { has_queued: true });
      const execution = await lockExecution(tx, executionId);
      if (!execution) throw notFound('Execution', executionId);
      refuseUnlessAllowed(execution, status);
      // A cancel under way keeps its mode: a weaker one does not take back a kill.
      if (execution.status === status || (mode && cancelOf(execution.status) !== null)) {
        await updateExecution(tx, executionId, { error });
        return 'nothing';
      }
      if (mode) return await cancelLocked(deps, tx, execution, mode, error);
      if (ENDS.has(status)) {
        await endAs(tx, deps, execution, { status: status as Outcome['status'], error });
        return 'drive';
      }
      return await goOnAs(tx, deps, execution, status, error);
    }),
  );
  if (then === 'drive') deps.wake.drive(executionId);
  else if (Array.isArray(then)) deps.wake.kill(executionId, then);
  else if (then !== 'nothing') afterCancel(deps, executionId, mode!, then);
}

function refuseUnlessAllowed({ id, status: from, workflow_id }: ExecutionRow, to: ExecutionStatus): void {
  if (isAllowed(from, to)) return;
  throw new AppError(
    'invalid_exception_status_update',
    `Invalid relationship - can't change status from ${from} to ${to} for "${id}" execution while running "${workflow_id}" workflow.`,
    { field: 'status', from, to },
  );
}

function isAllowed(from: ExecutionStatus, to: ExecutionStatus): boolean {
  if (from === to) return true;
  if (ENDS.has(from)) return false;
  return !CANCELLING.has(from) || AFTER_CANCELLING.has(to);
}

async function endAs(
  tx: Tx<DB>,
  deps: SetStatusDeps,
  execution: LockedExecution,
  outcome: Outcome,
): Promise<void> {
  // A graph that is not stopped would treat late answers as news, and start the tasks that depend on them.
  if (execution.phase === 'running' && execution.graph_id !== null)
    await stopGraph(deps, tx, execution, 'force-cancel');
  deps.memory.forget(execution.id);
  await updateExecution(tx, execution.id, {
    // A process about to write an earlier decision finds that the row has moved on.
    version: execution.version + 1,
    phase: 'ending',
    outcome,
    wake_at: null,
    ...(execution.phase === 'waiting' ? { status: 'pending' } : {}),
  });
}

async function goOnAs(
  tx: Tx<DB>,
  deps: SetStatusDeps,
  execution: LockedExecution,
  status: ExecutionStatus,
  error: string,
): Promise<'drive' | 'nothing' | KilledRun[]> {
  const isWaiting = WAITING.has(status);
  const phase = isWaiting ? 'waiting' : execution.phase === 'waiting' ? 'planning' : execution.phase;
  const isBack = isWaiting && execution.phase !== 'waiting';
  // Otherwise running operations would run twice at the same time, once the stage is planned anew.
  const killed = isBack && execution.graph_id !== null ? await requestKill(tx, execution.graph_id) : [];
  const back = isBack ? await takenBack(tx, deps, execution) : {};
  await updateExecution(tx, execution.id, {
    ...back,
    version: execution.version + 1,
    status,
    phase,
    error,
    ...(status === 'scheduled' ? { wake_at: execution.scheduled_for ?? NOW } : {}),
    ...(status === 'started' ? { started_at: NOW } : {}),
  });
  if (killed.length > 0) return killed;
  return phase === 'planning' ? 'drive' : 'nothing';
}

/** Returns the changes of an execution that had begun and waits again: its present stage is planned anew later. */
async function takenBack(
  tx: Tx<DB>,
  deps: SetStatusDeps,
  { id, history }: ExecutionRow,
): Promise<ExecutionChanges> {
  deps.memory.forget(id);
  await renameStoppedGraphs(
    tx,
    id,
    history.map((stage) => stage.name),
  );
  return { stage: null, graph_id: null, outcome: null, wake_at: null };
}
