import { AppError } from '@baton/kernel';
import { type ExecutionEvent, type ExecutionStatus, executionMachine } from '@baton/task-graph';
import type { ExecutionRow } from '../store/rows';

export type CancelMode = 'cancel' | 'force-cancel' | 'kill';

/** A forced cancel ends within this time whatever is dead (guarantee G3). */
export const FORCED_CANCEL_LIMIT_MS = 8_000;

/** How long a forced cancel may still wait for others, at least 0; null: it is none. */
export function forcedLeftMs(execution: ExecutionRow, nowMs: number): number | null {
  if (execution.cancel_requested_at === null) return null;
  if (execution.status !== 'force_cancelling' && execution.status !== 'kill_cancelling') return null;
  return Math.max(0, Date.parse(execution.cancel_requested_at) + FORCED_CANCEL_LIMIT_MS - nowMs);
}

/** What an execution is in until it has ended; how long that may wait for others is told from it. */
export const statusOfCancel = {
  cancel: 'cancelling',
  'force-cancel': 'force_cancelling',
  kill: 'kill_cancelling',
} as const satisfies Record<CancelMode, ExecutionStatus>;

/** The cancel that an execution in this status is under; null: none. */
export function cancelOf(status: string): CancelMode | null {
  const modes = Object.keys(statusOfCancel) as CancelMode[];
  return modes.find((mode) => statusOfCancel[mode] === status) ?? null;
}

/** How an execution in this status is cancelled: what goes with it is cancelled the same way. */
export const modeOf = (status: string): CancelMode => cancelOf(status) ?? 'cancel';

/**
 * The status that a cancel request brings (reference/rest-api.md 6.2).
 * @throws AppError illegal_action_error when the execution cannot be cancelled that way now.
 */
export function statusAfterCancel(execution: ExecutionRow, mode: CancelMode): ExecutionStatus {
  const next = executionMachine.next(execution.status, mode as ExecutionEvent);
  if (next === null) {
    throw new AppError(
      'illegal_action_error',
      `Can't ${mode} execution ${execution.id} because it's in status ${execution.status}`,
      { field: 'action', status: execution.status },
    );
  }
  return next;
}
