import { type ErrorCause, type MarkedError, operationErrorMark } from '../errors';

/** An expectation of the test kit was not met. For an operation it is a failure that no other try can mend. */
export class TestFailure extends Error implements MarkedError {
  readonly [operationErrorMark] = 'fatal' as const;
  readonly exceptionType = 'TestFailure';
  readonly retryAfter = null;
  readonly causes: readonly ErrorCause[] = [];
  constructor(message: string) {
    super(message);
    this.name = 'TestFailure';
  }
}
