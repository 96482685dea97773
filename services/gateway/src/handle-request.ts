/** The way of one request through the gateway: route, limits, caller, maintenance, forward. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Cache } from '@baton/cache';
import type { RouteContract } from '@baton/contracts';
import { principalHeader, signPrincipal } from '@baton/http';
import { AppError, type Clock, type Log } from '@baton/kernel';
import type { ServiceIdentity } from '@baton/trust';
import { answerError } from './answer-error';
import { type ApiPath, isClosedInV1, parseApiPath } from './api-versions';
import type { AuthenticateDeps } from './authenticate';
import { authorize } from './authorize';
import { unwrapList } from './bare-list';
import type { Forwarder } from './forward';
import { bodyLimit, checkAnnouncedLength, countRequest, type LimitSettings, type Room } from './limits';
import { changes, checkMaintenance, type MaintenanceState } from './maintenance';
import type { PageSize } from './page-size';
import type { Pages } from './pages';
import type { Caller } from './principal-cache';
import { type RequestHeaders, readHeaders } from './request-headers';
import type { CompiledRoute, RouteTable } from './route-table';

export interface HandleDeps extends AuthenticateDeps {
  routes: RouteTable;
  pages: Pages;
  forwarder: Forwarder;
  rateCache: Cache;
  room: Room;
  limits: LimitSettings;
  /** What says to the services that this gateway says who calls. */
  identityKey: ServiceIdentity;
  mintRequestId: () => string;
  clock: Clock;
  log: Log;
  maintenance: () => MaintenanceState;
  pageSize: Pick<PageSize, 'complete'>;
  /** Called once the answer of a route is complete. */
  observe: (contract: RouteContract | null, method: string, status: number, durationMs: number) => void;
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  method: string;
  api: ApiPath;
  query: string;
}

/** Handler of a node:http server. Never throws; every refusal is a JSON body. */
export function createHandler(
  deps: HandleDeps,
): (request: IncomingMessage, response: ServerResponse) => void {
  return (request, response) => {
    const url = request.url ?? '/';
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const api = parseApiPath(path);
    const method = request.method ?? 'GET';
    if (api) {
      void handleApi(deps, { request, response, method, api, query: mark < 0 ? '' : url.slice(mark + 1) });
    } else if (!deps.pages.answer(path, request, response)) {
      answerError(response, noSuchPath(path), [], request);
    }
  };
}

const AUTH_METHOD = 'x-cloudify-audit-auth-method';

async function handleApi(deps: HandleDeps, exchange: Exchange): Promise<void> {
  const { request, response, method, api } = exchange;
  const startedMs = deps.clock.monotonic();
  const answerHeaders: string[] = [];
  let contract: RouteContract | null = null;
  let caller: Caller | null = null;
  let reason: string | null = null;
  const fail = (thrown: unknown): void => {
    // On every answer (reference/rest-api.md 1.2).
    if (!answerHeaders.includes(AUTH_METHOD)) answerHeaders.push(AUTH_METHOD, '');
    const error = answerError(response, thrown, answerHeaders, request);
    reason = error.message;
    if (error.entry.http >= 500 && error.code !== 'maintenance_mode_active') {
      deps.log.error(
        { method, path: api.path, errorCode: error.code, err: error.cause ?? error },
        'request failed',
      );
    }
  };
  try {
    const headers = readHeaders(request.rawHeaders, deps.mintRequestId);
    answerHeaders.push('x-request-id', headers.requestId, 'x-content-type-options', 'nosniff');
    const match = deps.routes.match(api.version, method, api.path);
    if (match.kind === 'none') throw noSuchPath(api.path);
    if (isClosedInV1(api))
      throw new AppError(
        'method_not_allowed_error',
        `v1 of the API has no ${api.path}; v2 and later have it`,
      );
    if (match.kind === 'method') {
      answerHeaders.push('allow', match.allowed.join(', '));
      if (method === 'OPTIONS')
        return void response.writeHead(200, [...answerHeaders, 'content-length', '0']).end();
      throw new AppError('method_not_allowed_error', `The method ${method} is not allowed for this path`, {
        expected: match.allowed,
      });
    }
    ({ contract } = match.route);
    const leave = deps.room.enter(contract.responseKind === 'events', changes(contract, method));
    const ended = contract;
    response.once('close', () => {
      leave();
      deps.observe(ended, method, response.statusCode, deps.clock.monotonic() - startedMs);
      if (isRefusal(response.statusCode))
        logRefusal(deps.log, exchange, { requestId: headers.requestId, contract: ended, caller, reason });
    });
    checkAnnouncedLength(headers, bodyLimit(contract, deps.limits));
    caller = await callerOf(deps, exchange, match.route, match.segments, headers, answerHeaders);
    await forward(deps, exchange, match.route, headers, caller, answerHeaders, fail);
  } catch (error) {
    fail(error);
  }
}

async function callerOf(
  deps: HandleDeps,
  { request, method, api, query }: Exchange,
  route: CompiledRoute,
  segments: readonly string[],
  headers: RequestHeaders,
  answerHeaders: string[],
): Promise<Caller | null> {
  const isRated = deps.limits.ratePerMinute > 0;
  if (isRated)
    await countRequest(deps.rateCache, request.socket.remoteAddress ?? '', deps.limits, deps.clock.now());
  const isLegacy = api.version === 'v2.1';
  const caller = await authorize(deps, { route, segments, query, headers, isLegacy });
  answerHeaders.push(AUTH_METHOD, caller?.principal.authMethod ?? '');
  if (caller) {
    if (caller.principal.tenant !== '')
      answerHeaders.push('x-cloudify-audit-tenant', caller.principal.tenant);
    answerHeaders.push('x-cloudify-audit-username', caller.principal.username);
  }
  checkMaintenance(deps.maintenance(), { route, method, path: api.path, headers }, caller);
  return caller;
}

async function forward(
  deps: HandleDeps,
  { request, response, method, api, query }: Exchange,
  { contract, isLong }: CompiledRoute,
  headers: RequestHeaders,
  caller: Caller | null,
  answerHeaders: string[],
  fail: (error: AppError) => void,
): Promise<void> {
  const outgoing = headers.forwarded;
  // The same principal object is signed twice a minute, not once a request.
  if (caller)
    outgoing.push(
      principalHeader,
      signPrincipal(caller.principal, deps.identityKey, contract.owner, deps.clock),
    );
  // Gone while it was looked up who calls.
  if (response.destroyed) return;
  if (api.hasBareLists && contract.list) unwrapList(response);
  const asked = deps.pageSize.complete(contract, query);
  deps.forwarder.forward(
    {
      service: contract.owner,
      // The server leaves the body of an answer to HEAD out by itself.
      method: method === 'HEAD' ? 'GET' : method,
      url: `/api/${api.version}${api.path}${asked === '' ? '' : `?${asked}`}`,
      headers: outgoing,
      answerHeaders,
      body: headers.isChunked ? 'chunked' : headers.contentLength > 0 ? 'sized' : 'none',
      maxBodyBytes: bodyLimit(contract, deps.limits),
      isLong,
    },
    request,
    response,
    fail,
  );
}

const isRefusal = (status: number): boolean => status === 401 || status === 403;

interface Refused {
  requestId: string;
  contract: RouteContract;
  /** Null where the gateway itself refused: then the reason says who. */
  caller: Caller | null;
  reason: string | null;
}

/** Who was refused what. Queries may hold secrets: they are left out. */
function logRefusal(
  log: Log,
  { method, api }: Exchange,
  { requestId, contract, caller, reason }: Refused,
): void {
  const { username = null, tenant = null, executionId = null } = caller?.principal ?? {};
  const { id: route, permission } = contract;
  log.warn(
    { requestId, route, permission, method, path: api.path, username, tenant, executionId, reason },
    'request refused',
  );
}

function noSuchPath(path: string): AppError {
  return new AppError('not_found_error', `No such path: ${path.slice(0, 200)}`);
}
