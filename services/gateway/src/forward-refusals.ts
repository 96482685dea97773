/** Errors for clients whose request could not be forwarded. */
import type { ServiceName } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { errors } from 'undici';
import type { ForwardRequest } from './forward';
import { tooLarge } from './limit-body';

/** The service sent nothing for the longest time that an answer may take. */
export class AnswerTimeout extends Error {}

/** Error codes of node:http for a path or header that it refuses to write. */
const UNWRITABLE = new Set([
  'ERR_INVALID_CHAR',
  'ERR_HTTP_INVALID_HEADER_VALUE',
  'ERR_INVALID_HTTP_TOKEN',
  'ERR_UNESCAPED_CHARACTERS',
]);

const codeOf = (error: Error): string => (error as { code?: string }).code ?? '';

export function unavailable(service: ServiceName, cause?: unknown): AppError {
  return new AppError('service_unavailable_error', `Service ${service} does not answer`, {}, { cause });
}

/** Returns the refusal for a request that `error` ended while it was forwarded. */
export function refusalOf({ service, maxBodyBytes }: ForwardRequest, error: Error): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof errors.RequestContentLengthMismatchError) return tooLarge(maxBodyBytes);
  if (error instanceof errors.InvalidArgumentError || UNWRITABLE.has(codeOf(error)))
    return new AppError(
      'bad_parameters_error',
      'The request line or a header holds characters that are not allowed',
      {},
      { cause: error },
    );
  if (error instanceof errors.HeadersTimeoutError || error instanceof AnswerTimeout)
    return new AppError(
      'request_timeout_error',
      `Service ${service} did not answer in time`,
      {},
      { cause: error },
    );
  return unavailable(service, error);
}
