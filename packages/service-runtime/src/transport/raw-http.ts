/** The HTTP server of a service that handles raw requests (the gateway), and of the ops port. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createExpress,
  createListener,
  errorBody,
  type HttpApp,
  type ListenerOptions,
  type PlainAnswer,
  type SideDoor,
  toAppError,
} from '@baton/http';
import { AppError, type Log } from '@baton/kernel';
import type { ServerTls } from '@baton/tls';
import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';

const MAX_HEADER_BYTES = 32 * 1024;
const HEADERS_TIMEOUT_MS = 10_000;
const KEEP_ALIVE_MS = 72_000;

/** Error for a request target that is no valid address: no handler is called. */
const NO_ADDRESS = new AppError('bad_parameters_error', 'The address of the request cannot be read');

const ignore = (): void => undefined;

/** Errors of the two streams of a request after their end (a write to a client that left) are ignored. */
const begin: RequestHandler = (request, response, next) => {
  request.on('error', ignore);
  response.on('error', ignore);
  next();
};

function plainPaths(plain: Record<string, (url: string) => Promise<PlainAnswer>>, log: Log): RequestHandler {
  return (request, response, next) => {
    const path = request.url.split('?', 1)[0]!;
    const produce = Object.hasOwn(plain, path) ? plain[path] : undefined;
    if (!produce || request.method !== 'GET') return next();
    produce(request.url)
      .then(({ status, contentType, body }) =>
        response.writeHead(status, { 'content-type': contentType }).end(body),
      )
      .catch((error) => {
        log.error({ err: error }, 'plain path failed');
        if (response.headersSent) response.destroy();
        else response.writeHead(500).end();
      });
  };
}

function answerFault(error: unknown, request: IncomingMessage, response: ServerResponse, log: Log): void {
  const path = (request.url ?? '').split('?', 1)[0]!.slice(0, 200);
  if (error !== NO_ADDRESS) log.error({ method: request.method, path, err: error }, 'request failed');
  if (response.headersSent) return void response.destroy();
  const fault = toAppError(error);
  const body = JSON.stringify(errorBody(fault));
  // The name or length of a header that was set before may be the cause of the fault.
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response
    .writeHead(fault.entry.http, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
    })
    .end(body);
}

export interface RawHttpOptions {
  /** Absent: no TLS. */
  tls?: ServerTls | undefined;
  /** How long a client may take for its headers, ms. */
  headersTimeoutMs?: number;
  /** Takes the connections that are meant for it. */
  door?: SideDoor | undefined;
}

/** Settings of every server for raw requests. */
export const rawHttpSettings = (headersTimeoutMs = HEADERS_TIMEOUT_MS): ListenerOptions => ({
  // Uploads may take longer than Node's default of 5 minutes; the reader of a body limits how slowly it may come.
  requestTimeout: 0,
  // A client that sends its headers byte by byte, or nothing at all, holds a connection only this long.
  headersTimeout: headersTimeoutMs,
  connectionsCheckingInterval: Math.min(2_000, headersTimeoutMs),
  keepAliveTimeout: KEEP_ALIVE_MS,
  maxHeaderSize: MAX_HEADER_BYTES,
});

/** The handlers of a request: one, or several in their order. */
export type RawHandler = RequestHandler | (RequestHandler | ErrorRequestHandler)[];

/**
 * Creates a server that runs the handlers of `handler`, with the plain paths in front. No request may end the process: an error
 * that a handler throws is logged once and answered with 500.
 */
export function withPlainPaths(
  handler: RawHandler,
  plain: Record<string, (url: string) => Promise<PlainAnswer>>,
  log: Log,
  { tls, headersTimeoutMs, door }: RawHttpOptions = {},
): HttpApp {
  const app = createExpress();
  app.use(begin, plainPaths(plain, log));
  app.use(handler);
  const handle: HttpApp['handle'] = (request, response) =>
    app(request as Request, response as Response, (error: unknown) =>
      answerFault(error ?? NO_ADDRESS, request, response, log),
    );
  return { handle, ...createListener(handle, rawHttpSettings(headersTimeoutMs), tls, door) };
}
