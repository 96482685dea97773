import { ApiError } from '@baton/client';
import {
  FatalError,
  isMarkedError,
  OperationRetry,
  operationErrorMark,
  RetryableError,
} from '@baton/plugin-sdk';

/** Error codes of systems between this worker and a manager: the same request may succeed a moment later. */
const UNREACHABLE = new Set(['http_502', 'http_503', 'http_504', 'service_unavailable_error']);

export function isRefusal(error: unknown, ...codes: string[]): error is ApiError {
  return error instanceof ApiError && codes.includes(error.errorCode);
}

export function isMissing(error: unknown): boolean {
  return error instanceof ApiError && error.status === 404;
}

/**
 * Returns the error with which an operation ends (reference/workflows.md 8.1). Deferrals and retries stay as they are.
 * A refusal because the execution is being cancelled becomes a retry. All other errors become "Error in <func>:
 * <text>", which is final. Only an unreachable manager is worth a retry: the original gave up in this case
 * (docs/adr/0018-composition.md).
 */
export function failureOf(func: string | null, thrown: unknown): Error {
  if (isMarkedError(thrown) && thrown[operationErrorMark] !== 'fatal') return thrown;
  if (isRefusal(thrown, 'forbidden_while_cancelling')) return new OperationRetry();
  const message = func === null ? textOf(thrown) : `Error in ${func}: ${textOf(thrown)}`;
  return isUnreachable(thrown)
    ? new RetryableError(message, { cause: thrown })
    : new FatalError(message, { cause: thrown });
}

function isUnreachable(thrown: unknown): boolean {
  if (thrown instanceof ApiError) return UNREACHABLE.has(thrown.errorCode);
  // fetch reports a lost or refused connection as TypeError with a cause. A certificate that is untrusted now will be
  // untrusted later too.
  return thrown instanceof TypeError && thrown.cause !== undefined && !isUntrusted(thrown.cause);
}

function isUntrusted(cause: unknown): boolean {
  const code = (cause as { code?: unknown }).code;
  return typeof code === 'string' && /CERT|^ERR_TLS|UNABLE_TO_VERIFY/.test(code);
}

function textOf(thrown: unknown): string {
  if (!(thrown instanceof Error)) return String(thrown);
  const reason = (thrown.cause as Error | undefined)?.message;
  return thrown instanceof TypeError && reason ? `${thrown.message} (${reason})` : thrown.message;
}
