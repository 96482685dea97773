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
  'agents' | 'cancelGraceMs' | 'db' | 'log' | 'memory' | 'turns' | 'wake' | 'workflowConfig'
>;

/**
 * Cancels an execution: from the commit on, nothing new is dispatched. `cancel` gives running operations a grace to end by
 * themselves; after it, their workers stop them (engine/commands/wake-executions.ts). With `force-cancel` and `kill`, the workers
 * stop them at once, and the execution ends without waiting for that. An execution that does not run yet ends at once.
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

/** Effects of a cancel that others must be told after the commit. */
export interface Cancelled {
  /** Runs that workers are to stop. */
  killed: KilledRun[];
  /** Running work goes on: code until it hears of the cancel, operations until they end; both at most until the grace ends. */
  isToldOnly: boolean;
  /** End of the grace, epoch ms. */
  graceUntil?: number | undefined;
}

/** As `cancelExecution`, for a locked execution, in the caller's transaction. `error`: the reason that the caller has given. */
export async function cancelLocked(
  deps: CancelExecutionDeps,
  tx: Tx<DB>,
  execution: TimedExecution,
  mode: CancelMode,
  error = '',
): Promise<Cancelled> {
  const { id } = execution;
  const stopping = (killed: KilledRun[]): Cancelled => ({ killed, isToldOnly: false });
  // The execution is over or about to be: its runs that are left are stopped all the same.
  if (mode === 'kill' && ['cancelled', 'failed', 'kill_cancelling'].includes(execution.status))
    return stopping(execution.graph_id === null ? [] : await requestKill(tx, execution.graph_id));
  const next = statusAfterCancel(execution, mode);
  // The service that carries the execution out sees the status with its next report and ends the execution, if it still can.
  if (execution.phase === 'running' && isCarriedOutElsewhere(execution)) {
    await updateExecution(tx, id, { status: next, cancel_requested_at: NOW, error });
    return stopping([]);
  }
  const changes: ExecutionChanges = {
    // A waiting execution ends at once; `cancelled` is written at the end, together with the terminal event.
    status: execution.phase === 'waiting' ? statusOfCancel[mode] : next,
    cancel_requested_at:
      forcedLeftMs(execution, execution.now_ms) === null ? NOW : execution.cancel_requested_at,
    error,
    phase: 'ending',
    outcome: { status: 'cancelled', error },
  };
  if (execution.phase !== 'running') {
    // With the next version: a process about to write an end that was decided before finds that the row has moved on.
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

/**
 * Tells others of a cancel after its commit. If the process crashes before this call, heartbeats and
 * engine/loops/engine.loops.ts do the same.
 */
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
    // The executions that it has started elsewhere are told now, and not at its end.
    deps.wake.drive(executionId);
  } else if (mode === 'cancel') deps.wake.drive(executionId);
  else deps.wake.driveAtOnce(executionId);
}

/**
 * Cancels the graph of a locked execution: late answers are kept for a resume, and change nothing else. Returns whether the graph
 * is over; if it is not, its runs have time until `graceUntil` (epoch ms). A graph that cannot be read is over: nothing can go on
 * there.
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
    // After an error of the database the transaction takes no more statements: the update throws, and the caller gets that error.
    await updateExecution(tx, execution.id, { version: execution.version + 1, has_left_runs: true });
    deps.log.error({ err, executionId: execution.id }, 'a graph that cannot be read is cancelled');
    return { isOver: true };
  }
  const graceMs = mode === 'cancel' ? cancelGraceMs(execution, deps.cancelGraceMs) : 0;
  // Workflow code is first told of a plain cancel, even if its grace is 0.
  const hasGrace = graceMs > 0 || (mode === 'cancel' && loaded.graph.hasCode);
  const grace = hasGrace ? { graceUntil: execution.now_ms + graceMs } : {};
  try {
    const happenings = [{ kind: 'cancel' as const, mode, ...grace }];
    await writeLocked(deps, tx, decideStep(deps, { execution, loaded }, happenings));
  } finally {
    // Dropped whether the transaction commits or not: the next step reads the graph anew.
    deps.memory.forget(execution.id);
  }
  const isOver = loaded.graph.flags.ended !== null;
  return isOver ? { isOver } : { isOver, ...grace };
}

/** Awaits an action on one of many executions, and ignores the refusal of an execution that changed its state meanwhile. */
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
