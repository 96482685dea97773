/** Refuses requests whose path matches no route, or cannot be read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@baton/kernel';
import type { PathIndex } from './path-index';

/** Path without its query: queries may carry tokens and are not logged. */
export function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0]!;
}

/** Whether Express's router could not decode a parameter of the path: it marks the error with the status. */
const isUndecodable = (error: unknown): boolean =>
  error instanceof URIError && (error as { status?: unknown }).status === 400;

/** The error for a path that is not percent-encoded UTF-8, or has a parameter that is too long. */
export const badPath = (url: string | undefined, cause?: unknown): AppError =>
  new AppError(
    'bad_parameters_error',
    `'${url}' is not a valid url component`,
    { field: 'path', expected: 'percent-encoded UTF-8' },
    { cause },
  );

/** Converts an error of the router into ours; returns every other error unchanged. */
export function ofRouter(error: unknown, request: IncomingMessage): unknown {
  return isUndecodable(error) ? badPath(request.url, error) : error;
}

/**
 * Refuses a request that matches no route; names the allowed methods when the path is known with other methods.
 * @throws AppError not_found_error, method_not_allowed_error, bad_parameters_error
 */
export function refuseUnknown(paths: PathIndex, request: IncomingMessage, response: ServerResponse): never {
  const path = pathOf(request);
  try {
    decodeURIComponent(path);
  } catch (cause) {
    throw badPath(request.url, cause);
  }
  const allowed = paths.methodsOf(path);
  if (allowed.length === 0) throw new AppError('not_found_error', `No such path: ${path}`);
  response.setHeader('allow', allowed.join(', '));
  throw new AppError(
    'method_not_allowed_error',
    `The method ${request.method} is not allowed for this path`,
    {
      expected: allowed,
    },
  );
}
