import { isAppError } from '@baton/kernel';
import {
  type ErrorCause,
  isMarkedError,
  type OperationErrorKind,
  operationErrorMark,
} from '@baton/plugin-sdk';

/** What went wrong, in the shape that the engine stores (reference/workflows.md 3.6). */
export interface OperationFailure {
  exceptionType: string;
  message: string;
  traceback: string | null;
  causes: ErrorCause[];
}

/** How an attempt ended. `retryAfter`: seconds, null = the policy decides. */
export type OperationEnd =
  | { kind: 'succeeded'; result: unknown }
  | { kind: 'failed'; isRecoverable: boolean; failure: OperationFailure; retryAfter: number | null }
  | { kind: 'retry'; failure: OperationFailure; retryAfter: number | null }
  /** It waits, without being at a worker, for the end of that execution, at the latest for so many seconds. */
  | { kind: 'deferred'; message: string; untilExecution: string | null; checkAfter: number }
  | { kind: 'timed-out'; failure: OperationFailure }
  /** Stopped from outside; the reason is that of the signal. */
  | { kind: 'stopped'; reason: StopReason };

/** Why a run was aborted: reasons of the AbortSignal given to `invoke`. */
export type StopReason = 'cancelled' | 'lease-lost' | 'stopping';

/** The reason of an aborted signal; anything unknown counts as a cancel. */
export function stopReason(signal: AbortSignal): StopReason {
  return signal.reason === 'lease-lost' || signal.reason === 'stopping' ? signal.reason : 'cancelled';
}

/** Seconds; of an error of another copy of the SDK that names none. */
const DEFAULT_CHECK_AFTER = 60;

function framesOf(error: Error): string {
  return (error.stack ?? '').split('\n').slice(1).join('\n');
}

/**
 * The end that a thrown value means; what carries no mark is recoverable (reference/workflows.md 2.3, 3.6).
 * Frames are those of the plugin's author; errors that the runtime itself reports are given without.
 */
export function endOfThrown(
  thrown: unknown,
  frames: 'with-frames' | 'without-frames' = 'without-frames',
): OperationEnd {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const traceback = frames === 'with-frames' ? framesOf(error) : null;
  if (isMarkedError(error)) {
    const kind = error[operationErrorMark];
    if (kind === 'deferred') {
      const { message, untilExecution = null, retryAfter } = error;
      return { kind, message, untilExecution, checkAfter: retryAfter ?? DEFAULT_CHECK_AFTER };
    }
    return endOfKind(kind, {
      exceptionType: error.exceptionType ?? error.name,
      message: error.message,
      traceback,
      causes: [...(error.causes ?? [])],
      retryAfter: error.retryAfter ?? null,
    });
  }
  const exceptionType = isAppError(error) ? 'CloudifyClientError' : error.name;
  return endOfKind('retryable', {
    exceptionType,
    message: error.message,
    traceback,
    causes: [],
    retryAfter: null,
  });
}

/** The end for a failure that is already described, e.g. by a Python process. */
export function endOfKind(
  kind: OperationErrorKind,
  described: OperationFailure & { retryAfter: number | null },
): OperationEnd {
  const { exceptionType, message, retryAfter } = described;
  if (kind === 'retry') {
    return {
      kind,
      failure: { exceptionType, message, traceback: null, causes: described.causes },
      retryAfter,
    };
  }
  const own = { type: exceptionType, message, traceback: described.traceback ?? '' };
  const failure = {
    exceptionType,
    message,
    traceback: described.traceback,
    causes: [...described.causes, own],
  };
  return { kind: 'failed', isRecoverable: kind === 'retryable', failure, retryAfter };
}
