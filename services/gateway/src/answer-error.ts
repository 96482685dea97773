import type { IncomingMessage, ServerResponse } from 'node:http';
import { errorBody, retryAfterOf, toAppError } from '@baton/http';
import type { AppError } from '@baton/kernel';

/**
 * Bytes of an unread request body that are read and discarded: a client that sends its whole body before it reads would otherwise
 * see only a broken connection.
 */
const DISCARDED_BYTES = 64 * 1024 * 1024;
const DISCARDED_MS = 10_000;

/**
 * Writes the JSON body of an error; `headers` is [name, value, ...]. The unread rest of the request body is read and discarded, up
 * to DISCARDED_BYTES, so that the client comes to read the answer. When the announced body is larger, the connection is closed.
 */
export function answerError(
  response: ServerResponse,
  thrown: unknown,
  headers: readonly string[],
  request: IncomingMessage,
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
  const isLeft = isUnread(request);
  // A client that sends its body too slowly is not waited for.
  const isSlow = error.code === 'request_body_timeout_error';
  const isClosing = isSlow || (isLeft && announcedBytes(request) > DISCARDED_BYTES);
  if (isClosing) all.push('connection', 'close');
  response.writeHead(status, all);
  response.end(body);
  if (isLeft && !isClosing) discard(request);
  return error;
}

const announcedBytes = (request: IncomingMessage): number => Number(request.headers['content-length'] ?? 0);

function isUnread(request: IncomingMessage): boolean {
  const hasBody = request.headers['transfer-encoding'] !== undefined || announcedBytes(request) > 0;
  return hasBody && !request.complete;
}

function discard(request: IncomingMessage): void {
  let leftBytes = DISCARDED_BYTES;
  const timer = setTimeout(() => request.destroy(), DISCARDED_MS).unref();
  request.on('data', (chunk: Buffer) => {
    leftBytes -= chunk.length;
    if (leftBytes < 0) request.destroy();
  });
  request.once('close', () => clearTimeout(timer));
  request.once('error', () => undefined);
}
