import type { ServerResponse } from 'node:http';
import { errorBody, retryAfterOf, toAppError } from '@baton/http';
import type { AppError } from '@baton/kernel';

/**
 * Writes the JSON body of an error; `headers` is [name, value, ...]. A request body that nobody has read ends the
 * connection, since reading on just to throw it away would let clients keep the gateway busy.
 */
export function answerError(
  response: ServerResponse,
  thrown: unknown,
  headers: readonly string[],
  isBodyUnread: boolean,
): AppError {
  const error = toAppError(thrown);
  const status = error.entry.http;
  if (response.headersSent) {
    response.destroy();
    return error;
  }
  const body = JSON.stringify(errorBody(error));
  const all = [
    'content-type',
    'application/json',
    'content-length',
    String(Buffer.byteLength(body)),
    ...headers,
  ];
  const retryAfter = retryAfterOf(error);
  if (retryAfter) all.push('retry-after', retryAfter);
  if (isBodyUnread) all.push('connection', 'close');
  response.writeHead(status, all);
  response.end(body);
  return error;
}
