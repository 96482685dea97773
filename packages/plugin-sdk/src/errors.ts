/**
 * How an operation says what shall happen after it failed. Anything else that is thrown counts as retryable
 * (reference/workflows.md 2.3). The mark is a registered symbol, so that errors of another copy of this package
 * (a plugin that brings its own) are still understood.
 */
export const operationErrorMark: unique symbol = Symbol.for('baton.operation-error') as never;

export type OperationErrorKind = 'fatal' | 'retryable' | 'retry';

/** One reason behind an error, as shown in `error_causes` of events. */
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

/** What the runtime reads from a thrown value that carries the mark. */
export interface MarkedError extends Error {
  readonly [operationErrorMark]: OperationErrorKind;
  readonly exceptionType: string;
  /** Seconds until the next try; null: the policy of the operation decides. */
  readonly retryAfter: number | null;
  readonly causes: readonly ErrorCause[];
}

/** The operation failed and trying again is useless (NonRecoverableError in Python plugins). */
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

/** The operation failed; another try may succeed. `retryAfter`: seconds, overrides the interval of the policy. */
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

/** Not a failure: the operation wants to be run again, e.g. while it polls something slow. */
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

/** Whether a thrown value carries the mark of this package. */
export function isMarkedError(thrown: unknown): thrown is MarkedError {
  return thrown instanceof Error && operationErrorMark in thrown;
}
