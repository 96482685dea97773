import { AppError, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { ExecutionStatus } from '@baton/task-graph';
import type { EngineDeps } from '../engine/deps';
import { type ExecutionChanges, lockExecution, NOW, updateExecution } from '../store/executions.sql';
import type { ExecutionRow, Outcome } from '../store/rows';
import type { DB } from '../store/tables.gen';
import { renameStoppedGraphs } from '../store/tasks.sql';

const ENDS = new Set<ExecutionStatus>(['terminated', 'failed', 'cancelled']);
const CANCELLING = new Set<ExecutionStatus>(['cancelling', 'force_cancelling']);
const AFTER_CANCELLING = new Set<ExecutionStatus>(['cancelled', 'failed', 'queued', 'scheduled']);

/**
 * Sets a status as clients of the API do (reference/rest-api.md 6.1). An end status ends the execution through the same
 * way as its workflow would: effects delivered, one terminal event.
 * @throws AppError invalid_exception_status_update for a transition that the table refuses; not_found_error.
 */
export async function setStatus(
  deps: EngineDeps,
  executionId: string,
  status: ExecutionStatus,
  error: string,
): Promise<void> {
  const mustDrive = await deps.memory.serially(executionId, () =>
    deps.db.tx(async (tx) => {
      const execution = await lockExecution(tx, executionId);
      if (!execution) throw notFound('Execution', executionId);
      if (!isAllowed(execution.status, status)) {
        throw new AppError(
          'invalid_exception_status_update',
          `Invalid relationship - can't change status from ${execution.status} to ${status} for "${executionId}" execution while running "${execution.workflow_id}" workflow.`,
          { field: 'status', from: execution.status, to: status },
        );
      }
      if (execution.status === status) {
        await updateExecution(tx, executionId, { error });
        return false;
      }
      // Whoever is about to write what was decided before finds that the row has moved on.
      const version = execution.version + 1;
      if (ENDS.has(status)) {
        deps.memory.forget(executionId);
        const outcome: Outcome = { status: status as Outcome['status'], error };
        const isWaiting = execution.phase === 'waiting';
        await updateExecution(tx, executionId, {
          version,
          phase: 'ending',
          outcome,
          wake_at: null,
          ...(isWaiting ? { status: 'pending' } : {}),
        });
        return true;
      }
      const isWaiting = status === 'queued' || status === 'scheduled';
      const phase = isWaiting ? 'waiting' : execution.phase === 'waiting' ? 'planning' : execution.phase;
      const back = isWaiting && execution.phase !== 'waiting' ? await takenBack(tx, deps, execution) : {};
      await updateExecution(tx, executionId, {
        ...back,
        version,
        status,
        phase,
        error,
        ...(status === 'scheduled' ? { wake_at: execution.scheduled_for ?? NOW } : {}),
        ...(status === 'started' ? { started_at: NOW } : {}),
      });
      return phase === 'planning';
    }),
  );
  if (mustDrive) deps.wake.drive(executionId);
}

/** One that had begun waits for its turn again: the stage that it was in is planned anew then. */
async function takenBack(
  tx: Tx<DB>,
  deps: EngineDeps,
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

function isAllowed(from: ExecutionStatus, to: ExecutionStatus): boolean {
  if (from === to) return true;
  if (ENDS.has(from)) return false;
  return !CANCELLING.has(from) || AFTER_CANCELLING.has(to);
}
