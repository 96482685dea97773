/** The way of one request through the gateway: its steps in their order, as Express takes them. */
import type { Cache } from '@baton/cache';
import type { Principal, RouteContract } from '@baton/contracts';
import { bareListHeader, principalHeader, signPrincipal } from '@baton/http';
import { AppError, type Clock, type FloodLog, type Log } from '@baton/kernel';
import type { ServiceIdentity } from '@baton/trust';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { answerError } from './answer-error';
import { isClosedInV1, parseApiPath } from './api-versions';
import { bodyHasCome } from './arrived-body';
import type { AuthenticateDeps } from './authenticate';
import { authorize } from './authorize';
import type { AddressOf } from './client-address';
import { Exchange, exchangeOf, setExchange, step } from './exchange';
import { type FixedHeaders, UNLESS_SAID } from './fixed-headers';
import type { Forwarder } from './forward';
import { bodyLimit, checkAnnouncedLength, countRequest, type LimitSettings } from './limits';
import { changes, checkMaintenance, type MaintenanceState } from './maintenance';
import type { PageSize } from './page-size';
import type { Rates } from './rates';
import { AUTH_METHOD, logRefusal, refuse } from './refuse-request';
import { readHeaders } from './request-headers';
import type { Room } from './room';
import type { RouteTable } from './route-table';
import type { SlowPeers } from './slow-peers';

export interface HandleDeps extends AuthenticateDeps {
  routes: RouteTable;
  /** Answers what the gateway has itself, beside the API. */
  pages: RequestHandler;
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

/** All steps of the edge. Every refusal is a JSON body. */
export function createHandler(deps: HandleDeps): (RequestHandler | ErrorRequestHandler)[] {
  return [
    receive(deps),
    step((exchange) => findRoute(deps, exchange)),
    step((exchange) => countIn(deps, exchange)),
    step((exchange) => identify(deps, exchange)),
    step((exchange) => enter(deps, exchange)),
    step((exchange) => forward(deps, exchange)),
    refuseThrown(deps),
  ];
}

/** Tells requests of the API from pages and from paths that are not there. */
function receive(deps: HandleDeps): RequestHandler {
  return (request, response, next) => {
    const { url, method } = request;
    const mark = url.indexOf('?');
    const path = mark < 0 ? url : url.slice(0, mark);
    const api = parseApiPath(path);
    const answerHeaders = [...deps.fixedHeaders(request)];
    if (!api) {
      deps.pages(request, response, (error?: unknown) => {
        if (error) next(error);
        else answerError(response, noSuchPath(path), [...answerHeaders, ...UNLESS_SAID], request);
      });
      return;
    }
    const query = mark < 0 ? '' : url.slice(mark + 1);
    const startedMs = deps.clock.monotonic();
    const address = deps.addressOf(request);
    setExchange(
      request,
      new Exchange({ request, response, startedMs, method, api, query, address, answerHeaders }),
    );
    next();
  };
}

/**
 * The route of the request; false: it asked for the methods of its path, and has been answered.
 * @throws AppError not_found_error, method_not_allowed_error
 */
function findRoute({ routes, mintRequestId }: HandleDeps, exchange: Exchange): boolean {
  const { request, response, method, api, answerHeaders } = exchange;
  exchange.headers = readHeaders(request.rawHeaders, mintRequestId);
  answerHeaders.push('x-request-id', exchange.headers.requestId);
  const match = routes.match(api.version, method, api.path);
  if (match.kind === 'none') throw noSuchPath(api.path);
  if (isClosedInV1(api))
    throw new AppError('method_not_allowed_error', `v1 of the API has no ${api.path}; v2 and later have it`);
  if (match.kind === 'route') {
    exchange.route = match.route;
    exchange.contract = match.route.contract;
    exchange.segments = match.segments;
    return true;
  }
  answerHeaders.push('allow', match.allowed.join(', '));
  if (method !== 'OPTIONS')
    throw new AppError('method_not_allowed_error', `The method ${method} is not allowed for this path`, {
      expected: match.allowed,
    });
  response.writeHead(200, [...answerHeaders, 'content-length', '0']).end();
  return false;
}

/** The request is in the house, and is watched until it has left. @throws AppError payload_too_large_error */
function countIn(deps: HandleDeps, exchange: Exchange): void {
  const { request, response, method, headers, hasBody, startedMs } = exchange;
  const { contract } = exchange.route;
  const visit = deps.room.arrive(exchange.address, {
    isStream: contract.responseKind === 'events',
    isChange: changes(contract, method),
  });
  exchange.visit = visit;
  const unwatch = deps.slowPeers.watch({
    request,
    response,
    hasBody,
    isUpload: contract.rawBody === 'archive',
    onSlowBody: () => refuse(deps.floods, exchange, bodyTooSlow()),
  });
  response.once('close', () => {
    visit.leave();
    unwatch();
    deps.observe(contract, method, response.statusCode, deps.clock.monotonic() - startedMs);
    logRefusal(deps.floods, exchange, contract);
  });
  checkAnnouncedLength(headers, bodyLimit(contract, deps.limits));
}

/** Who calls, and whether he may. */
async function identify(deps: HandleDeps, exchange: Exchange): Promise<void> {
  const { method, api, query, address, route, segments, headers, answerHeaders } = exchange;
  const isRated = deps.limits.ratePerMinute > 0;
  if (isRated) await countRequest(deps.rateCache, address, deps.limits, deps.clock.now());
  const isLegacy = api.version === 'v2.1';
  const caller = await authorize(deps, { route, segments, query, headers, isLegacy, address });
  exchange.caller = caller;
  answerHeaders.push(AUTH_METHOD, caller?.principal.authMethod ?? '');
  if (caller) {
    if (caller.principal.tenant !== '')
      answerHeaders.push('x-cloudify-audit-tenant', caller.principal.tenant);
    answerHeaders.push('x-cloudify-audit-username', caller.principal.username);
  }
  checkMaintenance(deps.maintenance(), { route, method, path: api.path, headers }, caller);
}

/** Counts the request for its caller; then it waits for a short body, and takes a place in the room. */
async function enter(deps: HandleDeps, exchange: Exchange): Promise<void> {
  const { request, method, caller, visit, answerHeaders, hasBody } = exchange;
  const { contract } = exchange.route;
  if (caller) {
    const { username, tenant } = caller.principal;
    visit.identify(username, tenant);
    const counted = deps.tenantRequests(caller.principal);
    if (counted) answerHeaders.push(...(await counted));
    answerHeaders.push(...deps.rates.count(contract, method, username, tenant));
  }
  const isShort = contract.rawBody !== 'archive' && hasBody;
  if (isShort && !request.complete) await bodyHasCome(request);
  visit.enter();
}

/** The last step: the service, or what goes wrong on the way to it, answers. */
function forward(deps: HandleDeps, exchange: Exchange): false {
  const { request, response, method, api, query, caller, headers, answerHeaders, hasBody } = exchange;
  const { contract, isLong } = exchange.route;
  const outgoing = headers.forwarded;
  // The same principal object is signed twice a minute, not once a request.
  if (caller)
    outgoing.push(
      principalHeader,
      signPrincipal(caller.principal, deps.identityKey, contract.owner, deps.clock),
    );
  // Gone while it was looked up who calls, or sent away for a body that came too slowly.
  if (response.destroyed || response.headersSent) return false;
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
      isComing: hasBody && !request.complete,
      isLong,
    },
    request,
    response,
    (error) => refuse(deps.floods, exchange, error),
  );
  return false;
}

/** Answers what a step has thrown. What cannot even be refused goes on: only the broken connection can tell the client. */
function refuseThrown({ floods }: HandleDeps): ErrorRequestHandler {
  return (error, request, _response, next) => {
    const exchange = exchangeOf(request);
    if (exchange) refuse(floods, exchange, error);
    else next(error);
  };
}

const bodyTooSlow = (): AppError =>
  new AppError('request_body_timeout_error', 'The body of the request came too slowly, or not at all', {
    field: 'body',
  });

function noSuchPath(path: string): AppError {
  return new AppError('not_found_error', `No such path: ${path.slice(0, 200)}`);
}
