import { AppError } from '@baton/kernel';
import { type ExecutionEvent, type ExecutionStatus, executionMachine } from '@baton/task-graph';
import type { ExecutionRow } from '../../store/rows';

export type CancelMode = 'cancel' | 'force-cancel' | 'kill';

/** A forced cancel ends within this time, even when other services or workers are dead (guarantee G3). */
const FORCED_CANCEL_LIMIT_MS = 8_000;

/** Returns how long a forced cancel may still wait for others, ms, at least 0; null: the execution is under no forced cancel. */
export function forcedLeftMs(execution: ExecutionRow, nowMs: number): number | null {
  if (execution.cancel_requested_at === null) return null;
  if (execution.status !== 'force_cancelling' && execution.status !== 'kill_cancelling') return null;
  return Math.max(0, Date.parse(execution.cancel_requested_at) + FORCED_CANCEL_LIMIT_MS - nowMs);
}

/** How long workers may take to stop the operations left after the grace of a plain cancel: SIGTERM, five seconds, SIGKILL. */
export const STOP_LIMIT_MS = 10_000;

/** Upper limit of a grace, one day, for any value of the parameter. */
const MAX_GRACE_MS = 86_400_000;

/**
 * Returns how long running operations may go on after a plain cancel, ms; 0: they are stopped at once. The parameter
 * `cancel_grace` of the execution gives it in seconds (a blueprint sets it for its workflows by a default value); without the
 * parameter, the manager's setting `usualMs` applies.
 */
export function cancelGraceMs({ parameters }: Pick<ExecutionRow, 'parameters'>, usualMs: number): number {
  const given = parameters.cancel_grace;
  const seconds =
    typeof given === 'number' || (typeof given === 'string' && given !== '') ? Number(given) : Number.NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_GRACE_MS) : usualMs;
}

/** Status of a cancelled execution until it has ended. It decides how long the end may wait for others. */
export const statusOfCancel = {
  cancel: 'cancelling',
  'force-cancel': 'force_cancelling',
  kill: 'kill_cancelling',
} as const satisfies Record<CancelMode, ExecutionStatus>;

/** Returns the mode of the cancel that an execution in this status is under; null: none. */
export function cancelOf(status: string): CancelMode | null {
  const modes = Object.keys(statusOfCancel) as CancelMode[];
  return modes.find((mode) => statusOfCancel[mode] === status) ?? null;
}

/** Returns the mode in which an execution in this status is cancelled; dependent executions are cancelled in the same mode. */
export const modeOf = (status: string): CancelMode => cancelOf(status) ?? 'cancel';

/**
 * Returns the status of the execution after a cancel request (reference/rest-api.md 6.2).
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
