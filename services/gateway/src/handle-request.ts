/** The way of one request through the gateway: route, limits, caller, maintenance, forward. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Cache } from '@baton/cache';
import type { Principal, RouteContract } from '@baton/contracts';
import { bareListHeader, principalHeader, signPrincipal } from '@baton/http';
import { AppError, type Clock, type FloodLog, type Log } from '@baton/kernel';
import type { ServiceIdentity } from '@baton/trust';
import { answerError } from './answer-error';
import { type ApiPath, isClosedInV1, parseApiPath } from './api-versions';
import { bodyHasCome } from './arrived-body';
import type { AuthenticateDeps } from './authenticate';
import { authorize } from './authorize';
import type { AddressOf } from './client-address';
import { type FixedHeaders, UNLESS_SAID } from './fixed-headers';
import type { Forwarder } from './forward';
import { bodyLimit, checkAnnouncedLength, countRequest, type LimitSettings } from './limits';
import { changes, checkMaintenance, type MaintenanceState } from './maintenance';
import type { PageSize } from './page-size';
import type { Pages } from './pages';
import type { Caller } from './principal-cache';
import type { Rates } from './rates';
import { type RequestHeaders, readHeaders } from './request-headers';
import type { Room, Visit } from './room';
import type { CompiledRoute, RouteMatch, RouteTable } from './route-table';
import type { SlowPeers } from './slow-peers';

export interface HandleDeps extends AuthenticateDeps {
  routes: RouteTable;
  pages: Pages;
  forwarder: Forwarder;
  rateCache: Cache;
  room: Room;
  rates: Rates;
  /** Counts a request of a tenant with a quota of them; @throws AppError too_many_requests_error */
  tenantRequests: (principal: Principal) => Promise<string[]> | undefined;
  slowPeers: SlowPeers;
  addressOf: AddressOf;
  fixedHeaders: FixedHeaders;
  limits: LimitSettings;
  /** What says to the services that this gateway says who calls. */
  identityKey: ServiceIdentity;
  mintRequestId: () => string;
  clock: Clock;
  log: Log;
  /** For what a client can cause as often as he likes. */
  floods: FloodLog;
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
  address: string;
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
      handleApi(deps, {
        request,
        response,
        method,
        api,
        query: mark < 0 ? '' : url.slice(mark + 1),
        address: deps.addressOf(request),
      }).catch((error: unknown) => {
        // Even the refusal failed: only the broken connection can tell the client.
        deps.log.error({ method, path: api.path, err: error }, 'request failed');
        response.destroy();
      });
    } else if (!deps.pages.answer(path, request, response)) {
      answerError(response, noSuchPath(path), [...deps.fixedHeaders(request), ...UNLESS_SAID], request);
    }
  };
}

const AUTH_METHOD = 'x-cloudify-audit-auth-method';

async function handleApi(deps: HandleDeps, exchange: Exchange): Promise<void> {
  const { request, response, method } = exchange;
  const startedMs = deps.clock.monotonic();
  const answerHeaders: string[] = [...deps.fixedHeaders(request)];
  let contract: RouteContract | null = null;
  let caller: Caller | null = null;
  let reason: string | null = null;
  const fail = (thrown: unknown): void => {
    // On every answer (reference/rest-api.md 1.2).
    if (!answerHeaders.includes(AUTH_METHOD)) answerHeaders.push(AUTH_METHOD, '');
    const error = answerError(response, thrown, [...answerHeaders, ...UNLESS_SAID], request);
    reason = error.message;
    logFailure(deps.floods, exchange, caller, error);
  };
  try {
    const headers = readHeaders(request.rawHeaders, deps.mintRequestId);
    answerHeaders.push('x-request-id', headers.requestId);
    const match = matchOf(deps.routes, exchange, answerHeaders);
    if (!match) return;
    ({ contract } = match.route);
    const ended = contract;
    const visit = deps.room.arrive(exchange.address, {
      isStream: contract.responseKind === 'events',
      isChange: changes(contract, method),
    });
    const unwatch = deps.slowPeers.watch({
      request,
      response,
      hasBody: hasBody(headers),
      isUpload: contract.rawBody === 'archive',
      onSlowBody: () => fail(bodyTooSlow()),
    });
    response.once('close', () => {
      visit.leave();
      unwatch();
      deps.observe(ended, method, response.statusCode, deps.clock.monotonic() - startedMs);
      if (isRefusal(response.statusCode))
        logRefusal(deps.floods, exchange, { requestId: headers.requestId, contract: ended, caller, reason });
    });
    checkAnnouncedLength(headers, bodyLimit(contract, deps.limits));
    caller = await callerOf(deps, exchange, match.route, match.segments, headers, answerHeaders);
    await enter(deps, exchange, contract, headers, caller, visit, answerHeaders);
    await forward(deps, exchange, match.route, headers, caller, answerHeaders, fail);
  } catch (error) {
    fail(error);
  }
}

/**
 * The route of the request; null: it asked for the methods of its path, and has been answered.
 * @throws AppError not_found_error, method_not_allowed_error
 */
function matchOf(
  routes: RouteTable,
  { response, method, api }: Exchange,
  answerHeaders: string[],
): RouteMatch | null {
  const match = routes.match(api.version, method, api.path);
  if (match.kind === 'none') throw noSuchPath(api.path);
  if (isClosedInV1(api))
    throw new AppError('method_not_allowed_error', `v1 of the API has no ${api.path}; v2 and later have it`);
  if (match.kind === 'route') return match;
  answerHeaders.push('allow', match.allowed.join(', '));
  if (method === 'OPTIONS') {
    response.writeHead(200, [...answerHeaders, 'content-length', '0']).end();
    return null;
  }
  throw new AppError('method_not_allowed_error', `The method ${method} is not allowed for this path`, {
    expected: match.allowed,
  });
}

async function callerOf(
  deps: HandleDeps,
  { method, api, query, address }: Exchange,
  route: CompiledRoute,
  segments: readonly string[],
  headers: RequestHeaders,
  answerHeaders: string[],
): Promise<Caller | null> {
  const isRated = deps.limits.ratePerMinute > 0;
  if (isRated) await countRequest(deps.rateCache, address, deps.limits, deps.clock.now());
  const isLegacy = api.version === 'v2.1';
  const caller = await authorize(deps, { route, segments, query, headers, isLegacy, address });
  answerHeaders.push(AUTH_METHOD, caller?.principal.authMethod ?? '');
  if (caller) {
    if (caller.principal.tenant !== '')
      answerHeaders.push('x-cloudify-audit-tenant', caller.principal.tenant);
    answerHeaders.push('x-cloudify-audit-username', caller.principal.username);
  }
  checkMaintenance(deps.maintenance(), { route, method, path: api.path, headers }, caller);
  return caller;
}

/** Counts the request for its caller; then it waits for a short body, and takes a place in the room. */
async function enter(
  deps: HandleDeps,
  { request, method }: Exchange,
  contract: RouteContract,
  headers: RequestHeaders,
  caller: Caller | null,
  visit: Visit,
  answerHeaders: string[],
): Promise<void> {
  if (caller) {
    const { username, tenant } = caller.principal;
    visit.identify(username, tenant);
    const counted = deps.tenantRequests(caller.principal);
    if (counted) answerHeaders.push(...(await counted));
    answerHeaders.push(...deps.rates.count(contract, method, username, tenant));
  }
  const isShort = contract.rawBody !== 'archive' && hasBody(headers);
  if (isShort && !request.complete) await bodyHasCome(request);
  visit.enter();
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
  // Gone while it was looked up who calls, or sent away for a body that came too slowly.
  if (response.destroyed || response.headersSent) return;
  if (api.hasBareLists && contract.list) outgoing.push(bareListHeader, 'yes');
  const asked = deps.pageSize.complete(contract, query);
  deps.forwarder.forward(
    {
      service: contract.owner,
      // The server leaves the body of an answer to HEAD out by itself.
      method: method === 'HEAD' ? 'GET' : method,
      url: `/api/${api.version}${api.path}${asked === '' ? '' : `?${asked}`}`,
      headers: outgoing,
      answerHeaders,
      unlessSaid: UNLESS_SAID,
      body: headers.isChunked ? 'chunked' : headers.contentLength > 0 ? 'sized' : 'none',
      maxBodyBytes: bodyLimit(contract, deps.limits),
      isComing: hasBody(headers) && !request.complete,
      isLong,
    },
    request,
    response,
    fail,
  );
}

const isRefusal = (status: number): boolean => status === 401 || status === 403 || status === 429;

const hasBody = ({ isChunked, contentLength }: RequestHeaders): boolean => isChunked || contentLength > 0;

const bodyTooSlow = (): AppError =>
  new AppError('request_body_timeout_error', 'The body of the request came too slowly, or not at all', {
    field: 'body',
  });

interface Refused {
  requestId: string;
  contract: RouteContract;
  /** Null where the gateway itself refused: then the reason says who. */
  caller: Caller | null;
  reason: string | null;
}

/** Only what is a fault of ours: refusals have lines of their own, and maintenance is wanted. */
function logFailure(
  floods: FloodLog,
  { method, api, address }: Exchange,
  caller: Caller | null,
  error: AppError,
): void {
  if (error.entry.http < 500 || error.code === 'maintenance_mode_active') return;
  floods.error(
    caller?.principal.username ?? address,
    `${error.code} ${error.message}`,
    { method, path: api.path, errorCode: error.code, err: error.cause ?? error },
    'request failed',
  );
}

/** Who was refused what; the same again is counted for a minute. Queries may hold secrets: they are left out. */
function logRefusal(
  floods: FloodLog,
  { method, api, address }: Exchange,
  { requestId, contract, caller, reason }: Refused,
): void {
  const { username = null, tenant = null, executionId = null } = caller?.principal ?? {};
  const { id: route, permission } = contract;
  floods.warn(
    username ?? address,
    `${method} ${api.path} ${tenant} ${reason}`,
    { requestId, route, permission, method, path: api.path, address, username, tenant, executionId, reason },
    'request refused',
  );
}

function noSuchPath(path: string): AppError {
  return new AppError('not_found_error', `No such path: ${path.slice(0, 200)}`);
}
