import { AppError } from '@baton/kernel';

/** The error of a broker that cannot be reached; retryable. */
export function unavailable(reason: string, cause?: unknown): AppError {
  return new AppError(
    'service_unavailable_error',
    `The message broker does not answer: ${reason}`,
    {},
    { cause },
  );
}
