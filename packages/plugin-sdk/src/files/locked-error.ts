import { type ErrorCause, RetryableError } from '../errors';

/** Seconds after which the operation tries again. */
const RETRY_AFTER_S = 15;

/** Somebody else has the lock of a file. Another try, when the lock may be free. */
export class LockedError extends RetryableError {
  constructor(
    readonly file: string,
    reason: string,
    options: { cause?: unknown; causes?: ErrorCause[] } = {},
  ) {
    super(reason, { retryAfter: RETRY_AFTER_S, ...options });
    this.name = 'LockedError';
  }
}
