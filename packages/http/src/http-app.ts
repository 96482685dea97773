/** One service over HTTP: contract routes below /api/<version>, plain paths besides, JSON errors everywhere. */
import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ApiVersion } from '@baton/contracts';
import { AppError, newId, systemClock } from '@baton/kernel';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import { audited } from './audit-scope';
import { type CompiledRoute, compileRoute } from './compile-route';
import { errorBody, logError, retryAfterOf, toAppError } from './error-body';
import { createExpress, type ServedRequest } from './express-app';
import { createListener } from './http-listener';
import type { HttpAppOptions, PlainAnswer } from './options';
import { pathIndex } from './path-index';
import { readRequest } from './read-request';
import { ofRouter, pathOf, refuseUnknown } from './refuse-path';
import { type MountedRoute, resourceRouters } from './resource-routers';
import { rulesOf } from './rules-of';
import { type SendOptions, sendAnswer } from './send-answer';
import { isolated } from './tenant-scope';
import { placed } from './unstorable-text';
import { type ReplyHeaders, replyWhole } from './write-reply';

export interface HttpApp {
  /** Handles one request of another server (standalone mounts all services behind one port). */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Port 0 takes a free one; resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Ends event streams, waits for running requests, closes the server. */
  close(): Promise<void>;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

/** The principal header of an administrator in many tenants is longer than Node's default of 16 KiB. */
const MAX_HEADER_BYTES = 128 * 1024;
/** Longer than the gateway keeps its idle connections: so we never close a connection that the gateway is about to use. */
const KEEP_ALIVE_MS = 72_000;

const NO_ADDRESS = new AppError('bad_parameters_error', 'The address of the request cannot be read');

const STOPPING = new AppError('service_unavailable_error', 'The service is being stopped');

const ignore = (): void => undefined;

/**
 * Leaves out headers that only the gateway would read, and does not need: it dates its answers itself, and it has a rule of its own
 * for the life of connections.
 */
function leaveOut(response: ServerResponse): void {
  response.sendDate = false;
  response.removeHeader('connection');
}

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
}

/** The first handler of every request. A request that arrives while the service stops is refused, and its connection is closed. */
function begin({ observe }: HttpAppOptions, stopping: AbortSignal): RequestHandler {
  return (request, response, next) => {
    const served = request as ServedRequest;
    served.id = requestIdOf(request);
    // Errors after the end of the request (a write to a client that left); without a listener they would end the process.
    response.on('error', ignore);
    request.on('error', ignore);
    if (observe) watchEnd(served, response, observe);
    if (stopping.aborted) {
      response.shouldKeepAlive = false;
      response.setHeader('connection', 'close');
      replyError(served, response, STOPPING);
    } else next();
  };
}

/** Observes `close` and not the end of the handler: `close` also comes for event streams and for clients that went away. */
function watchEnd(
  request: ServedRequest,
  response: Response,
  observe: NonNullable<HttpAppOptions['observe']>,
): void {
  const startedMs = systemClock.monotonic();
  const { method } = request;
  request.routeId = undefined;
  response.once('close', () => {
    const durationMs = systemClock.monotonic() - startedMs;
    observe({ route: request.routeId ?? 'unknown', method, status: response.statusCode, durationMs });
  });
}

/** Logs the error and sends it; an answer that was begun is aborted. */
function fail(o: HttpAppOptions, error: unknown, request: ServedRequest, response: ServerResponse): void {
  const known = toAppError(ofRouter(error, request));
  logError(o.log, known, { requestId: request.id, method: request.method, url: pathOf(request) });
  if (response.headersSent) response.destroy();
  else replyError(request, response, known);
}

function replyError(request: ServedRequest, response: ServerResponse, error: AppError): void {
  const headers: ReplyHeaders = {
    // A request whose target is no valid address did not reach even the first handler.
    'x-request-id': request.id ?? requestIdOf(request),
    'content-type': 'application/json; charset=utf-8',
  };
  const retryAfter = retryAfterOf(error);
  if (retryAfter) headers['retry-after'] = retryAfter;
  replyWhole(response, error.entry.http, headers, JSON.stringify(errorBody(error)));
}

function contractHandler(
  o: HttpAppOptions,
  route: CompiledRoute,
  version: ApiVersion,
  stopping: AbortSignal,
): RequestHandler {
  const { id } = route.contract;
  const sending: SendOptions = {
    log: o.log,
    validateResponses: o.validateResponses,
    heartbeatMs: o.heartbeatMs,
    stopping,
    fail: (error, call) => fail(o, error, call.raw as ServedRequest, call.response),
  };
  return async (raw, response) => {
    const request = raw as ServedRequest;
    request.routeId = id;
    const call = await readRequest(route, request, response, version, o);
    const result = await audited(o.service, route.contract, call, () =>
      isolated(o.service, route.contract, call, () => route.handler(call)),
    ).catch((error: unknown) => {
      throw placed(error, call.body);
    });
    sendAnswer(route, call, result, sending);
  };
}

function plainHandler(path: string, produce: (url: string) => Promise<PlainAnswer>): RequestHandler {
  return async (raw, response) => {
    const request = raw as ServedRequest;
    request.routeId = path;
    const plain = await produce(request.url);
    const headers = { 'x-request-id': request.id, 'content-type': plain.contentType };
    replyWhole(response, plain.status, headers, plain.body);
  };
}

function routesOf(o: HttpAppOptions, stopping: AbortSignal): MountedRoute[] {
  const { serves } = rulesOf(o.wire);
  const routes: MountedRoute[] = [];
  for (const bound of o.routes) {
    if (!serves(bound.contract)) continue;
    const { method, path, versions } = bound.contract;
    for (const version of versions) {
      const handler = contractHandler(o, compileRoute(bound, version, o.wire), version, stopping);
      routes.push({ method, path: `/api/${version}${path}`, handler });
    }
  }
  for (const [path, produce] of Object.entries(o.plain ?? {}))
    routes.push({ method: 'GET', path, handler: plainHandler(path, produce) });
  return routes;
}

/**
 * Builds the app; routes and their parsers are compiled here, once.
 * @throws Error when two routes share method and path.
 */
export function createHttpApp(o: HttpAppOptions): HttpApp {
  const stopping = new AbortController();
  // Each open event stream adds a listener.
  setMaxListeners(0, stopping.signal);
  const routes = routesOf(o, stopping.signal);
  const paths = pathIndex();
  for (const { method, path } of routes) paths.add(method, path);
  const app = createExpress();
  app.use(begin(o, stopping.signal));
  app.use(resourceRouters(routes));
  app.use((request: Request, response: Response) => refuseUnknown(paths, request, response));
  app.use((error: unknown, request: Request, response: Response, _next: NextFunction) =>
    fail(o, error, request as ServedRequest, response),
  );
  const handle: HttpApp['handle'] = (raw, answer) => {
    const [request, response] = [raw as ServedRequest, answer as Response];
    // Only a request whose target is no valid address reaches this callback.
    app(request, response, (error: unknown) => fail(o, error ?? NO_ADDRESS, request, response));
  };
  const listener = createListener(
    (request, response) => {
      leaveOut(response);
      handle(request, response);
    },
    { maxHeaderSize: MAX_HEADER_BYTES, keepAliveTimeout: KEEP_ALIVE_MS, requestTimeout: 0 },
    o.tls,
  );
  return {
    handle,
    listen: (host, port) => listener.listen(host, port),
    close: () => {
      stopping.abort();
      return listener.close();
    },
  };
}
