import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Duplex } from 'node:stream';
import { errorBody, type HttpApp, type PlainAnswer, toAppError } from '@baton/http';
import { AppError, type ErrorCode, type Log } from '@baton/kernel';
import type { ServerTls } from '@baton/tls';
import type { HttpHandle } from '../lifecycle/infra-types';

const SWEEP_MS = 50;
const MAX_HEADER_BYTES = 32 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;

function answerPlain(response: ServerResponse, produce: () => Promise<PlainAnswer>, log: Log): void {
  produce()
    .then((plain) => response.writeHead(plain.status, { 'content-type': plain.contentType }).end(plain.body))
    .catch((error) => {
      log.error({ err: error }, 'plain path failed');
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
}

/** What Node's parser refuses never becomes a request: its answer is JSON as every other. */
const REFUSALS: Record<string, { status: string; code: ErrorCode; message: string; expected: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'bad_parameters_error',
    message: 'The address and headers of the request are too long',
    expected: `at most ${MAX_HEADER_BYTES} bytes`,
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'request_body_timeout_error',
    message: 'The headers of the request came too slowly',
    expected: 'all headers at once',
  },
};
const NO_HTTP = {
  status: '400 Bad Request',
  code: 'bad_parameters_error',
  message: 'The request is no HTTP',
  expected: 'HTTP/1.1',
} as const;

function refuseUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const { status, code, message, expected } = REFUSALS[error.code ?? ''] ?? NO_HTTP;
  const body = JSON.stringify(errorBody(new AppError(code, message, { expected })));
  const head = `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close`;
  socket.end(`HTTP/1.1 ${status}\r\n${head}\r\n\r\n${body}`);
}

/**
 * Nothing that a request does may end the process: what `handler` throws is logged once and answered 500, and what its two
 * streams report after their end (a write to a client that left) is no fault of anybody.
 */
function guarded(handler: HttpHandle, log: Log): HttpHandle {
  return (request, response) => {
    request.on('error', ignore);
    response.on('error', ignore);
    try {
      handler(request, response);
    } catch (error) {
      answerFault(error, request, response, log);
    }
  };
}

const ignore = (): void => undefined;

function answerFault(error: unknown, request: IncomingMessage, response: ServerResponse, log: Log): void {
  const path = (request.url ?? '').split('?', 1)[0]!.slice(0, 200);
  log.error({ method: request.method, path, err: error }, 'request failed');
  if (response.headersSent) return void response.destroy();
  const body = JSON.stringify(errorBody(toAppError(error)));
  // The name and length of headers that were set before may be what failed.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response
    .writeHead(500, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
    .end(body);
}

export interface RawHttpOptions {
  /** Absent: plain. */
  tls?: ServerTls | undefined;
  /** How long a client may take for its headers, ms. */
  headersTimeoutMs?: number;
}

/** A bare node:http server around a service that handles requests itself (gateway), with the plain paths in front. */
export function withPlainPaths(
  handler: HttpHandle,
  plain: Record<string, (url: string) => Promise<PlainAnswer>>,
  log: Log,
  { tls, headersTimeoutMs = HEADERS_TIMEOUT_MS }: RawHttpOptions = {},
): HttpApp {
  const handle = guarded((request, response) => {
    const url = request.url ?? '';
    const path = url.split('?', 1)[0]!;
    const produce = Object.hasOwn(plain, path) ? plain[path] : undefined;
    if (produce && request.method === 'GET') answerPlain(response, () => produce(url), log);
    else handler(request, response);
  }, log);
  const settings = {
    // Uploads may take longer than Node's default of 5 minutes; who reads bodies says how slowly they may come.
    requestTimeout: 0,
    // A client that sends its headers byte by byte, or nothing at all, holds a connection so long and no longer.
    headersTimeout: headersTimeoutMs,
    connectionsCheckingInterval: Math.min(2_000, headersTimeoutMs),
    keepAliveTimeout: 72_000,
    maxHeaderSize: MAX_HEADER_BYTES,
  };
  const secure = tls && createTlsServer({ ...settings, ...tls.options() }, handle);
  const server = secure ?? createServer(settings, handle);
  const detach = secure && tls.attach(secure);
  server.on('clientError', refuseUnreadable);
  return {
    handle,
    listen: (host, port) =>
      new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, host, () => {
          server.off('error', reject);
          const address = server.address();
          resolve(typeof address === 'object' && address ? address.port : port);
        });
      }),
    close: () =>
      new Promise((resolve) => {
        detach?.();
        if (!server.listening) return resolve();
        // Connections whose last answer is sent only now would be kept alive otherwise.
        const sweep = setInterval(() => server.closeIdleConnections(), SWEEP_MS);
        server.close(() => {
          clearInterval(sweep);
          resolve();
        });
      }),
  };
}
