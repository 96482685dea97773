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
 * Sets a status as clients of the API do (reference/rest-api.md 6.1). An end status ends the execution through the same
 * way as its workflow would: effects delivered, one terminal event; operations that run are left to end by themselves. That
 * it is being cancelled cancels it, as the action does. One that is to wait again stops what runs of it. Crash after the commit: engine/loops/engine.loops.ts (wake-executions).
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
      // Before the execution, as everybody locks. What is queued in a group is started by its group alone.
      if (WAITING.has(status) && known?.execution_group_id)
        await updateGroup(tx, known.tenant, known.execution_group_id, { has_queued: true });
      const execution = await lockExecution(tx, executionId);
      if (!execution) throw notFound('Execution', executionId);
      refuseUnlessAllowed(execution, status);
      // A kill stays one: what is less takes nothing back of it.
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
  // A graph that went on would take late answers for news, and begin what follows from them.
  if (execution.phase === 'running' && execution.graph_id !== null)
    await stopGraph(deps, tx, execution, 'force-cancel');
  deps.memory.forget(execution.id);
  await updateExecution(tx, execution.id, {
    // Whoever is about to write what was decided before finds that the row has moved on.
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
  // What runs would run twice at a time, once it is planned anew.
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

/** One that had begun waits for its turn again: the stage that it was in is planned anew then. */
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
