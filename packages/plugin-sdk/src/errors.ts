import { isUuid } from '@baton/kernel';

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
  readonly [operationErrorMark]: OperationErrorKind | 'deferred';
  readonly exceptionType: string;
  /** Seconds until the next try; null: the policy of the operation decides. */
  readonly retryAfter: number | null;
  readonly causes: readonly ErrorCause[];
  /** Of `deferred`: the execution whose end it waits for. */
  readonly untilExecution?: string | null;
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

/** What an operation that waits says besides the text for people. */
export interface DeferralOptions {
  /** Id of an execution of the own manager and tenant: the operation is run again when that has ended. */
  untilExecution?: string;
  /**
   * Seconds after which it is run again at the latest; of anything but an execution the only wake-up. Default 60, at least
   * 0.5, at most 3600; what lies outside is taken as the nearest bound.
   */
  checkAfter?: number;
}

const CHECK_AFTER = { default: 60, least: 0.5, most: 3600 };

/**
 * Neither a failure nor a try: the operation gives its place at the worker back and is run again when the execution that
 * it waits for has ended, or after a while. `message` names what it waits for and is logged when that begins, not at each
 * look. Changed runtime properties are stored first; what the next look needs must be there. Retries are not counted, the
 * time limit of the operation is: it holds for all its looks and the time in between. Not for scripts and workflows.
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
