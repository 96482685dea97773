/** One service over HTTP: contract routes below /api/<version>, plain paths beside them, JSON errors everywhere. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server as TlsServer } from 'node:tls';
import type { ApiVersion } from '@baton/contracts';
import { AppError, newId, systemClock } from '@baton/kernel';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { audited } from './audit-scope';
import { type CompiledRoute, compileRoute } from './compile-route';
import { errorBody, logError, retryAfterOf, toAppError } from './error-body';
import type { HttpAppOptions } from './options';
import { pathIndex } from './path-index';
import { readRequest } from './read-request';
import { rulesOf } from './rules-of';
import { sendAnswer } from './send-answer';
import { isolated } from './tenant-scope';
import { placed } from './unstorable-text';

export interface HttpApp {
  /** Answers one request of a foreign server (standalone mounts all services behind one port). */
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Port 0 takes a free one; resolves to the port. */
  listen(host: string, port: number): Promise<number>;
  /** Ends event streams, waits for running requests, closes. */
  close(): Promise<void>;
}

const REQUEST_ID = /^[\w.:-]{1,128}$/;

const SWEEP_MS = 50;

const ignore = (): void => undefined;

function requestIdOf(request: IncomingMessage): string {
  const given = request.headers['x-request-id'];
  return typeof given === 'string' && REQUEST_ID.test(given) ? given : newId();
}

function createServer(o: HttpAppOptions): FastifyInstance {
  // The principal header of an administrator in many tenants is longer than Node's default of 16 KiB.
  const server = { maxHeaderSize: 128 * 1024 };
  const app = fastify({
    genReqId: requestIdOf,
    exposeHeadRoutes: false,
    forceCloseConnections: 'idle',
    ...(o.tls ? { https: { ...server, ...o.tls.options() } } : { http: server }),
    routerOptions: { maxParamLength: 8192 },
    frameworkErrors: (error, request, reply) => {
      fail(o, error, request, reply);
    },
  });
  // Bodies belong to the routes: nothing is read before the route's contract says how.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_request, _payload, done) => done(null));
  app.setErrorHandler((error, request, reply) => fail(o, error, request, reply));
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    // Reported after the end (a write to a client that left); without a listener it would end the process.
    reply.raw.on('error', ignore);
    request.raw.on('error', ignore);
    done();
  });
  if (o.observe) observeRequests(app, o.observe);
  return app;
}

function observeRequests(app: FastifyInstance, observe: NonNullable<HttpAppOptions['observe']>): void {
  app.addHook('onRequest', (request, reply, done) => {
    const startedMs = systemClock.monotonic();
    // `close` and not Fastify's onResponse: it also comes for hijacked event streams and for clients that went away.
    reply.raw.once('close', () => {
      observe({
        route: (request.routeOptions.config as { id?: string }).id ?? 'unknown',
        method: request.method,
        status: reply.raw.statusCode,
        durationMs: systemClock.monotonic() - startedMs,
      });
    });
    done();
  });
}

function fail(o: HttpAppOptions, error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const known = toAppError(error);
  logError(o.log, known, { requestId: request.id, method: request.method, url: pathOf(request.raw) });
  if (reply.raw.headersSent) {
    reply.raw.destroy();
    return reply;
  }
  const retryAfter = retryAfterOf(known);
  if (retryAfter) reply.header('retry-after', retryAfter);
  return reply
    .code(known.entry.http)
    .header('x-request-id', request.id)
    .header('content-type', 'application/json')
    .send(JSON.stringify(errorBody(known)));
}

/** Path without its query: queries may carry tokens and are not logged. */
function pathOf(request: IncomingMessage): string {
  return (request.url ?? '').split('?', 1)[0]!;
}

function mountRoute(
  app: FastifyInstance,
  o: HttpAppOptions,
  route: CompiledRoute,
  version: ApiVersion,
  stopping: AbortSignal,
): void {
  app.route({
    method: route.contract.method,
    url: `/api/${version}${route.contract.path}`,
    config: { id: route.contract.id },
    handler: async (request, reply) => {
      const call = await readRequest(route, request, reply, version, o);
      const result = await audited(o.service, route.contract, call, () =>
        isolated(o.service, route.contract, call, () => route.handler(call)),
      ).catch((error: unknown) => {
        throw placed(error, call.body);
      });
      return sendAnswer(route, call, reply, result, { ...o, stopping });
    },
  });
}

/** Builds the app; routes and their parsers are compiled here, once. @throws Error when two routes share method and path. */
export function createHttpApp(o: HttpAppOptions): HttpApp {
  const app = createServer(o);
  const stopping = new AbortController();
  const paths = pathIndex();
  const { serves } = rulesOf(o.wire);
  for (const bound of o.routes) {
    if (!serves(bound.contract)) continue;
    for (const version of bound.contract.versions) {
      mountRoute(app, o, compileRoute(bound, version, o.wire), version, stopping.signal);
      paths.add(bound.contract.method, `/api/${version}${bound.contract.path}`);
    }
  }
  for (const [path, produce] of Object.entries(o.plain ?? {})) {
    paths.add('GET', path);
    app.get(path, { config: { id: path } }, async (request, reply) => {
      const plain = await produce(request.url);
      return reply.code(plain.status).header('content-type', plain.contentType).send(plain.body);
    });
  }
  app.setNotFoundHandler((request, reply) => {
    const allowed = paths.methodsOf(pathOf(request.raw));
    if (allowed.length === 0) throw new AppError('not_found_error', `No such path: ${pathOf(request.raw)}`);
    reply.header('allow', allowed.join(', '));
    throw new AppError(
      'method_not_allowed_error',
      `The method ${request.method} is not allowed for this path`,
      { expected: allowed },
    );
  });
  const detach = o.tls?.attach(app.server as unknown as TlsServer);
  return appOf(app, stopping, detach);
}

function appOf(app: FastifyInstance, stopping: AbortController, detach?: () => void): HttpApp {
  let isReady = false;
  const ready = Promise.resolve(app.ready()).then(() => {
    isReady = true;
  });
  // A broken route table shows in listen() and handle(), not as an unhandled rejection.
  ready.catch(() => undefined);
  return {
    handle(request, response) {
      if (isReady) app.routing(request, response);
      else
        void ready.then(
          () => app.routing(request, response),
          (error) => response.destroy(error),
        );
    },
    async listen(host, port) {
      await app.listen({ host, port });
      const address = app.server.address();
      return typeof address === 'object' && address ? address.port : port;
    },
    async close() {
      stopping.abort();
      detach?.();
      // A connection whose last answer is sent only now would be kept alive, and the server open, for another minute.
      const sweep = setInterval(() => app.server.closeIdleConnections(), SWEEP_MS);
      try {
        await app.close();
      } finally {
        clearInterval(sweep);
      }
    },
  };
}
