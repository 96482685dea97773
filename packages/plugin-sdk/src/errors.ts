import { isUuid } from '@baton/kernel';

/**
 * The error types by which an operation tells the engine how to go on after a failure. Any other thrown value counts as
 * retryable (reference/workflows.md 2.3). The mark is a registered symbol, so that errors from another copy of this
 * package (a plugin that brings its own) are recognized too.
 */
export const operationErrorMark: unique symbol = Symbol.for('baton.operation-error') as never;

export type OperationErrorKind = 'fatal' | 'retryable' | 'retry';

/** One cause of an error, as shown in `error_causes` of events. */
export interface ErrorCause {
  type: string;
  message: string;
  traceback: string;
}

interface ErrorExtras {
  causes?: ErrorCause[];
  cause?: unknown;
  /** Class name shown to users instead of the default one. */
  exceptionType?: string;
}

/** The fields that the runtime reads from a thrown value with the mark. */
export interface MarkedError extends Error {
  readonly [operationErrorMark]: OperationErrorKind | 'deferred';
  readonly exceptionType: string;
  /** Seconds until the next try; null: the policy of the operation decides. */
  readonly retryAfter: number | null;
  readonly causes: readonly ErrorCause[];
  /** For `deferred`: the execution whose end the operation waits for. */
  readonly untilExecution?: string | null;
}

/** The operation failed, and a retry is useless (NonRecoverableError in Python plugins). */
export class FatalError extends Error implements MarkedError {
  readonly [operationErrorMark] = 'fatal' as const;
  readonly exceptionType: string;
  readonly retryAfter = null;
  readonly causes: readonly ErrorCause[];
  constructor(message: string, extras: ErrorExtras = {}) {
    super(message, { cause: extras.cause });
    this.name = 'FatalError';
    this.exceptionType = extras.exceptionType ?? 'NonRecoverableError';
    this.causes = extras.causes ?? [];
  }
}

/** The operation failed; a retry may succeed. `retryAfter`: seconds, overrides the interval of the policy. */
export class RetryableError extends Error implements MarkedError {
  readonly [operationErrorMark] = 'retryable' as const;
  readonly exceptionType: string;
  readonly retryAfter: number | null;
  readonly causes: readonly ErrorCause[];
  constructor(message: string, extras: ErrorExtras & { retryAfter?: number | null } = {}) {
    const after = extras.retryAfter ?? null;
    super(after === null ? message : `${message} [retry_after=${after}]`, { cause: extras.cause });
    this.name = 'RetryableError';
    this.exceptionType = extras.exceptionType ?? 'RecoverableError';
    this.retryAfter = after;
    this.causes = extras.causes ?? [];
  }
}

/** Not a failure: the operation asks to be run again, e.g. while it polls a slow process. */
export class OperationRetry extends Error implements MarkedError {
  readonly [operationErrorMark] = 'retry' as const;
  readonly exceptionType = 'OperationRetry';
  readonly retryAfter: number | null;
  readonly causes: readonly ErrorCause[] = [];
  constructor(message = 'Retrying operation', extras: { retryAfter?: number | null } = {}) {
    super(message);
    this.name = 'OperationRetry';
    this.retryAfter = extras.retryAfter ?? null;
  }
}

/** Options of a deferred operation, besides the message for people. */
export interface DeferralOptions {
  /** Id of an execution of the same manager and tenant. The operation is run again when this execution has ended. */
  untilExecution?: string;
  /**
   * Maximum seconds until the operation is run again. When it waits for anything but an execution, this is the only
   * wake-up. Default 60, at least 0.5, at most 3600; a value outside is replaced by the nearest bound.
   */
  checkAfter?: number;
}

const CHECK_AFTER = { default: 60, least: 0.5, most: 3600 };

/**
 * Neither a failure nor a retry: the operation gives its place at the worker back. It is run again when the execution
 * that it waits for has ended, or after `checkAfter`. `message` names the thing that it waits for; it is logged when
 * the wait begins, not at each run. Changed runtime properties are stored first; the next run must find everything it
 * needs there. Runs after a wait do not count as retries. The time limit of the operation includes all its runs and the
 * time in between. Not for scripts and workflows.
 * @throws TypeError for an `untilExecution` that is no id, or a `checkAfter` that is no number.
 */
export class OperationDeferred extends Error implements MarkedError {
  readonly [operationErrorMark] = 'deferred' as const;
  readonly exceptionType = 'OperationDeferred';
  readonly retryAfter: number;
  readonly untilExecution: string | null;
  readonly causes: readonly ErrorCause[] = [];
  constructor(message: string, { untilExecution, checkAfter = CHECK_AFTER.default }: DeferralOptions = {}) {
    super(message);
    this.name = 'OperationDeferred';
    if (untilExecution !== undefined && !isUuid(untilExecution))
      throw new TypeError(`untilExecution: expected the id of an execution (a UUID), got ${untilExecution}`);
    if (typeof checkAfter !== 'number' || Number.isNaN(checkAfter))
      throw new TypeError(`checkAfter: expected a number of seconds, got ${String(checkAfter)}`);
    this.untilExecution = untilExecution?.toLowerCase() ?? null;
    this.retryAfter = Math.min(CHECK_AFTER.most, Math.max(CHECK_AFTER.least, checkAfter));
  }
}

/** Whether a thrown value carries the mark of this package. */
export function isMarkedError(thrown: unknown): thrown is MarkedError {
  return thrown instanceof Error && operationErrorMark in thrown;
}
