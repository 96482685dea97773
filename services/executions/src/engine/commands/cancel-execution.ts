import { AppError, isAppError, isoInstant, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import { isCarriedOutElsewhere } from '../../executions/domain/system-workflows';
import {
  type ExecutionChanges,
  lockExecution,
  NOW,
  type TimedExecution,
  updateExecution,
} from '../../executions/store/executions.sql';
import type { Ports } from '../../ports';
import type { KilledRun } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import {
  type CancelMode,
  cancelGraceMs,
  forcedLeftMs,
  statusAfterCancel,
  statusOfCancel,
} from '../domain/cancel';
import type { EnginePorts } from '../ports';
import { decideStep } from '../steps/advance-graph';
import type { LoadedGraph } from '../steps/graph-memory';
import { writeLocked } from '../steps/run-step';
import { requestKill } from '../store/tasks.sql';

export type CancelExecutionDeps = Pick<
  EnginePorts,
  'cancelGraceMs' | 'db' | 'log' | 'memory' | 'turns' | 'wake' | 'workflowConfig'
>;

/**
 * Cancels: from the commit on nothing new is dispatched. `cancel` leaves running operations a grace to end by themselves, and
 * has them stopped by their workers then (engine/commands/wake-executions.ts); `force-cancel` and `kill` have them stopped at once,
 * and end without waiting for that. An execution that does not run yet ends at once.
 * @throws AppError not_found_error, illegal_action_error.
 */
export async function cancelExecution(
  deps: CancelExecutionDeps,
  executionId: string,
  mode: CancelMode,
): Promise<void> {
  const done = await deps.turns.take(executionId, () =>
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
  /** What runs goes on: workflow code until it has heard, operations until they end; both at most to the end of the grace. */
  isToldOnly: boolean;
  /** When that is, epoch ms. */
  graceUntil?: number | undefined;
}

/** The same for a locked execution, in the caller's transaction. `error`: why, as somebody has said. */
export async function cancelLocked(
  deps: CancelExecutionDeps,
  tx: Tx<DB>,
  execution: TimedExecution,
  mode: CancelMode,
  error = '',
): Promise<Cancelled> {
  const { id } = execution;
  const stopping = (killed: KilledRun[]): Cancelled => ({ killed, isToldOnly: false });
  // Over, or about to be: what is left of it is stopped all the same.
  if (mode === 'kill' && ['cancelled', 'failed', 'kill_cancelling'].includes(execution.status))
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
  const { isOver, graceUntil } = await stopGraph(deps, tx, execution, mode);
  if (!isOver) {
    const { status, cancel_requested_at } = changes;
    const cancel_deadline = graceUntil === undefined ? null : isoInstant(graceUntil);
    await updateExecution(tx, id, { status, cancel_requested_at, cancel_deadline, error });
    return { killed: [], isToldOnly: true, graceUntil };
  }
  await updateExecution(tx, id, { ...changes, cancel_deadline: null, wake_at: null });
  return stopping(await requestKill(tx, execution.graph_id!));
}

/** After the commit of a cancel; after a crash before it heartbeats and engine/loops/engine.loops.ts do the same. */
export function afterCancel(
  deps: Pick<Ports, 'wake'>,
  executionId: string,
  mode: CancelMode,
  { killed, isToldOnly, graceUntil }: Cancelled,
): void {
  if (killed.length > 0) deps.wake.kill(executionId, killed);
  if (isToldOnly) {
    deps.wake.events(executionId);
    if (graceUntil !== undefined) deps.wake.timer(executionId, graceUntil);
    // What it has started elsewhere hears of it now, and not at its end.
    deps.wake.drive(executionId);
  } else if (mode === 'cancel') deps.wake.drive(executionId);
  else deps.wake.driveAtOnce(executionId);
}

/**
 * Tells the graph of a locked execution that it is cancelled: late answers are kept for a resume, and change nothing else.
 * It is over, as one that cannot be read is, for nothing can go on there; or what runs has until `graceUntil` (epoch ms).
 */
export async function stopGraph(
  deps: CancelExecutionDeps,
  tx: Tx<DB>,
  execution: TimedExecution,
  mode: CancelMode,
): Promise<{ isOver: boolean; graceUntil?: number }> {
  let loaded: LoadedGraph;
  try {
    loaded = await deps.memory.load(tx, execution);
  } catch (err) {
    // After an error of the database the transaction takes nothing more, and the caller hears of it.
    await updateExecution(tx, execution.id, { version: execution.version + 1, has_left_runs: true });
    deps.log.error({ err, executionId: execution.id }, 'a graph that cannot be read is cancelled');
    return { isOver: true };
  }
  const graceMs = mode === 'cancel' ? cancelGraceMs(execution, deps.cancelGraceMs) : 0;
  // Code of a workflow hears of a plain cancel first, however short its time is.
  const hasGrace = graceMs > 0 || (mode === 'cancel' && loaded.graph.hasCode);
  const grace = hasGrace ? { graceUntil: execution.now_ms + graceMs } : {};
  try {
    const happenings = [{ kind: 'cancel' as const, mode, ...grace }];
    await writeLocked(deps, tx, decideStep(deps.memory, { execution, loaded }, happenings));
  } finally {
    // Dropped, whether the transaction comes through or not: what follows reads the graph anew.
    deps.memory.forget(execution.id);
  }
  const isOver = loaded.graph.flags.ended !== null;
  return isOver ? { isOver } : { isOver, ...grace };
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
