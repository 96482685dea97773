import { AppError } from '@baton/kernel';
import { type ErrorCause, type OperationErrorKind, operationErrorMark } from '@baton/plugin-sdk';
import { attempt, isInstance, secondsOf, textOf, thrownProperty, thrownTexts } from './thrown';

/** The failure of an operation, in the shape that the engine stores (reference/workflows.md 3.6). */
export interface OperationFailure {
  exceptionType: string;
  message: string;
  traceback: string | null;
  causes: ErrorCause[];
}

/** The end of an attempt. `retryAfter`: seconds, null = the policy decides. */
export type OperationEnd =
  | { kind: 'succeeded'; result: unknown }
  | { kind: 'failed'; isRecoverable: boolean; failure: OperationFailure; retryAfter: number | null }
  | { kind: 'retry'; failure: OperationFailure; retryAfter: number | null }
  /** The operation waits without a worker for the end of an execution, for `checkAfter` seconds at most. */
  | { kind: 'deferred'; message: string; untilExecution: string | null; checkAfter: number }
  | { kind: 'timed-out'; failure: OperationFailure }
  /** Stopped from outside, with the reason of the signal. */
  | { kind: 'stopped'; reason: StopReason };

/** Why a run was aborted: reasons of the AbortSignal given to `invoke`. */
export type StopReason = 'cancelled' | 'lease-lost' | 'stopping';

/** The reason of an aborted signal; anything unknown counts as a cancel. */
export function stopReason(signal: AbortSignal): StopReason {
  return signal.reason === 'lease-lost' || signal.reason === 'stopping' ? signal.reason : 'cancelled';
}

/** Seconds, for a deferral from another copy of the SDK without a value. */
const DEFAULT_CHECK_AFTER = 60;

const KINDS: readonly unknown[] = ['fatal', 'retryable', 'retry'];

/**
 * Returns the end for a thrown value; a value without the mark is recoverable (reference/workflows.md 2.3, 3.6). Frames
 * are those of the plugin's author; errors of the runtime itself have no frames. Never throws, whatever was thrown: for
 * an error of another copy of the SDK, or a modified one, each part is checked by itself.
 */
export function endOfThrown(
  thrown: unknown,
  frames: 'with-frames' | 'without-frames' = 'without-frames',
): OperationEnd {
  const { name, message, frames: stack } = thrownTexts(thrown);
  const traceback = frames === 'with-frames' ? stack : null;
  const read = (property: PropertyKey): unknown =>
    isInstance(thrown, Error) ? thrownProperty(thrown, property) : undefined;
  const kind = read(operationErrorMark);
  const retryAfter = secondsOf(read('retryAfter'));
  if (kind === 'deferred') {
    const until = read('untilExecution');
    const untilExecution = typeof until === 'string' ? until : null;
    return { kind, message, untilExecution, checkAfter: retryAfter ?? DEFAULT_CHECK_AFTER };
  }
  if (kind !== undefined) {
    const exceptionType = read('exceptionType');
    return endOfKind(KINDS.includes(kind) ? (kind as OperationErrorKind) : 'retryable', {
      exceptionType: typeof exceptionType === 'string' ? exceptionType : name,
      message,
      traceback,
      causes: causesOf(read('causes')),
      retryAfter,
    });
  }
  const exceptionType = isInstance(thrown, AppError) ? 'CloudifyClientError' : name;
  return endOfKind('retryable', { exceptionType, message, traceback, causes: [], retryAfter: null });
}

/** Returns the objects of a list of causes; each field becomes a text. */
export function causesOf(value: unknown): ErrorCause[] {
  const causes = attempt(() => (Array.isArray(value) ? [...value] : [])) ?? [];
  return causes.flatMap((cause: unknown) => {
    if (typeof cause !== 'object' || cause === null) return [];
    const field = (name: string): string => textOf(thrownProperty(cause, name) ?? '');
    return [{ type: field('type'), message: field('message'), traceback: field('traceback') }];
  });
}

/** The end for a failure that has been described already, e.g. by a Python process. */
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
