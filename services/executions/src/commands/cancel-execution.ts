import { AppError, isAppError, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { type CancelMode, forcedLeftMs, statusAfterCancel, statusOfCancel } from '../domain/cancel';
import { isCarriedOutElsewhere } from '../domain/system-workflows';
import type { EngineDeps } from '../engine/deps';
import type { LoadedGraph } from '../engine/graph-memory';
import { stepLocked } from '../engine/run-step';
import {
  type ExecutionChanges,
  lockExecution,
  NOW,
  type TimedExecution,
  updateExecution,
} from '../store/executions.sql';
import type { DB } from '../store/tables.gen';
import { type KilledRun, requestKill } from '../store/tasks.sql';

/**
 * Cancels: from the commit on nothing new is dispatched. `cancel` leaves running operations to end by themselves;
 * `force-cancel` and `kill` have them stopped by their workers. An execution that does not run yet ends at once.
 * @throws AppError not_found_error, illegal_action_error.
 */
export async function cancelExecution(
  deps: EngineDeps,
  executionId: string,
  mode: CancelMode,
): Promise<void> {
  const done = await deps.memory.serially(executionId, () =>
    deps.db.tx(async (tx) => {
      const execution = await lockExecution(tx, executionId);
      if (!execution) throw notFound('Execution', executionId);
      return await cancelLocked(deps, tx, execution, mode);
    }),
  );
  afterCancel(deps, executionId, mode, done);
}

/** What a cancel has stored, for whoever has to hear of it after the commit. */
export interface Cancelled {
  /** Runs that workers are to stop. */
  killed: KilledRun[];
  /** Workflow code was told, and goes on until it has heard. */
  isToldOnly: boolean;
}

/** The same for a locked execution, in the caller's transaction. `error`: why, as somebody has said. */
export async function cancelLocked(
  deps: EngineDeps,
  tx: Tx<DB>,
  execution: TimedExecution,
  mode: CancelMode,
  error = '',
): Promise<Cancelled> {
  const { id } = execution;
  const stopping = (killed: KilledRun[]): Cancelled => ({ killed, isToldOnly: false });
  // Over, or about to be: what a plain cancel has left to end by itself is stopped all the same.
  if (mode === 'kill' && ['cancelled', 'kill_cancelling'].includes(execution.status))
    return stopping(execution.graph_id === null ? [] : await requestKill(tx, execution.graph_id));
  const next = statusAfterCancel(execution, mode);
  // Whoever carries it out sees the status with its next report and ends it, when it still can.
  if (execution.phase === 'running' && isCarriedOutElsewhere(execution)) {
    await updateExecution(tx, id, { status: next, cancel_requested_at: NOW, error });
    return stopping([]);
  }
  const changes: ExecutionChanges = {
    // Waiting ones end at once; `cancelled` is written at the end together with the terminal event.
    status: execution.phase === 'waiting' ? statusOfCancel[mode] : next,
    cancel_requested_at:
      forcedLeftMs(execution, execution.now_ms) === null ? NOW : execution.cancel_requested_at,
    error,
    phase: 'ending',
    outcome: { status: 'cancelled', error },
  };
  if (execution.phase !== 'running') {
    // With the version: whoever is about to write the end that was decided before finds that the row has moved on.
    await updateExecution(tx, id, { ...changes, version: execution.version + 1 });
    deps.memory.forget(id);
    return stopping([]);
  }
  const isOver = await stopGraph(deps, tx, execution, mode);
  // Workflow code hears of a plain cancel and ends by itself.
  if (!isOver) {
    const { status, cancel_requested_at } = changes;
    await updateExecution(tx, id, { status, cancel_requested_at, error });
    return { killed: [], isToldOnly: true };
  }
  await updateExecution(tx, id, { ...changes, wake_at: null });
  return stopping(mode === 'cancel' ? [] : await requestKill(tx, execution.graph_id!));
}

/** After the commit of a cancel; after a crash before it heartbeats and loops/engine.loops.ts do the same. */
export function afterCancel(
  deps: Pick<EngineDeps, 'wake'>,
  executionId: string,
  mode: CancelMode,
  { killed, isToldOnly }: Cancelled,
): void {
  if (killed.length > 0) deps.wake.kill(executionId, killed);
  if (isToldOnly) deps.wake.events(executionId);
  else if (mode === 'cancel') deps.wake.drive(executionId);
  else deps.wake.driveAtOnce(executionId);
}

/**
 * Tells the graph of a locked execution that it is cancelled: late answers are kept for a resume, and change nothing else.
 * True: it has ended, as one that cannot be read has, for nothing can go on there.
 */
export async function stopGraph(
  deps: EngineDeps,
  tx: Tx<DB>,
  execution: TimedExecution,
  mode: CancelMode,
): Promise<boolean> {
  let loaded: LoadedGraph;
  try {
    loaded = await deps.memory.load(tx, execution);
  } catch (err) {
    // After an error of the database the transaction takes nothing more, and the caller hears of it.
    await updateExecution(tx, execution.id, { version: execution.version + 1 });
    deps.log.error({ err, executionId: execution.id }, 'a graph that cannot be read is cancelled');
    return true;
  }
  try {
    await stepLocked(deps, tx, { execution, loaded }, [{ kind: 'cancel', mode }]);
    return loaded.graph.flags.ended !== null;
  } finally {
    deps.memory.forget(execution.id);
  }
}

/** For one of many: an execution that changed its state meanwhile is none of this action's any more. */
export async function leaveUnfit(acting: Promise<void>): Promise<void> {
  try {
    await acting;
  } catch (error) {
    const isUnfit =
      error instanceof AppError &&
      ['illegal_action_error', 'conflict_error', 'existing_running_execution_error', 'not_found_error'].some(
        (code) => isAppError(error, code as never),
      );
    if (!isUnfit) throw error;
  }
}
