import { AppError } from '@baton/kernel';
import { type ExecutionEvent, type ExecutionStatus, executionMachine } from '@baton/task-graph';
import type { ExecutionRow } from '../../store/rows';

export type CancelMode = 'cancel' | 'force-cancel' | 'kill';

/** A forced cancel ends within this time whatever is dead (guarantee G3). */
const FORCED_CANCEL_LIMIT_MS = 8_000;

/** How long a forced cancel may still wait for others, at least 0; null: it is none. */
export function forcedLeftMs(execution: ExecutionRow, nowMs: number): number | null {
  if (execution.cancel_requested_at === null) return null;
  if (execution.status !== 'force_cancelling' && execution.status !== 'kill_cancelling') return null;
  return Math.max(0, Date.parse(execution.cancel_requested_at) + FORCED_CANCEL_LIMIT_MS - nowMs);
}

/** How long workers may take to stop what is left after the grace of a plain cancel: SIGTERM, five seconds, SIGKILL. */
export const STOP_LIMIT_MS = 10_000;

/** A grace ends within a day, whatever a parameter says. */
const MAX_GRACE_MS = 86_400_000;

/**
 * How long what runs may go on after a plain cancel, ms: as the parameter `cancel_grace` of the execution says in seconds, which
 * a blueprint gives its workflows by default values, else as the manager is set. 0: it is stopped at once.
 */
export function cancelGraceMs({ parameters }: Pick<ExecutionRow, 'parameters'>, usualMs: number): number {
  const given = parameters.cancel_grace;
  const seconds =
    typeof given === 'number' || (typeof given === 'string' && given !== '') ? Number(given) : Number.NaN;
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds * 1000, MAX_GRACE_MS) : usualMs;
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
