/** The steps of one request through the gateway, in order, inside Express. */
import type { Cache } from '@baton/cache';
import type { Principal, RouteContract } from '@baton/contracts';
import {
  addressHeader,
  bareListHeader,
  httpsHeader,
  originHeader,
  principalHeader,
  signPrincipal,
} from '@baton/http';
import { AppError, type Clock, type FloodLog, type Log } from '@baton/kernel';
import type { ServiceIdentity } from '@baton/trust';
import type { ErrorRequestHandler, RequestHandler } from 'express';
import { answerError } from './answer-error';
import { isClosedInV1, parseApiPath } from './api-versions';
import { bodyHasCome } from './arrived-body';
import {
  type AuthorizationRequest,
  type AuthorizeDeps,
  authorize,
  authorizeAs,
  credentialOf,
} from './authorize';
import type { AddressOf } from './client-address';
import { andThen, Exchange, exchangeOf, inOrder, setExchange } from './exchange';
import { type FixedHeaders, UNLESS_SAID } from './fixed-headers';
import type { Forwarder } from './forward';
import { bodyLimit, checkAnnouncedLength, countRequest, type LimitSettings } from './limits';
import { changes, checkMaintenance } from './maintenance';
import type { Maintenance } from './maintenance-state';
import type { OpenStreams } from './open-streams';
import type { PageSize } from './page-size';
import type { Caller } from './principal-cache';
import type { Rates } from './rates';
import { AUTH_METHOD, logRefusal, refuse } from './refuse-request';
import { readHeaders } from './request-headers';
import type { Room } from './room';
import type { RouteTable } from './route-table';
import { type SignInDeps, signIn } from './sign-in';
import type { SlowPeers } from './slow-peers';

export interface HandleDeps extends AuthorizeDeps, SignInDeps {
  routes: RouteTable;
  /** Answers requests outside the API that the gateway serves itself. */
  pages: RequestHandler;
  forwarder: Forwarder;
  rateCache: Cache;
  room: Room;
  openStreams: OpenStreams;
  rates: Rates;
  /** Counts a request of a tenant that has a quota of requests; @throws AppError too_many_requests_error */
  tenantRequests: (principal: Principal) => Promise<string[]> | undefined;
  slowPeers: SlowPeers;
  addressOf: AddressOf;
  fixedHeaders: FixedHeaders;
  limits: LimitSettings;
  /** Key with which the gateway signs the caller's identity for the services. */
  identityKey: ServiceIdentity;
  mintRequestId: () => string;
  clock: Clock;
  log: Log;
  /** Log for events that a client can cause as often as it likes. */
  floods: FloodLog;
  maintenance: Pick<Maintenance, 'state' | 'settled' | 'changing'>;
  pageSize: Pick<PageSize, 'complete'>;
  /** Called once the answer of a route is complete. */
  observe: (contract: RouteContract | null, method: string, status: number, durationMs: number) => void;
}

/** Both ends of a sign-in at a provider name the address of the manager to the provider; a login of a program names its page. */
const NEEDS_ORIGIN = new Set<RouteContract['session']>(['begins', 'returns', 'asks']);
/** People are shown where the request of a program comes from. */
const NEEDS_ADDRESS = new Set<RouteContract['session']>(['asks', 'judges']);

/** Returns all steps of the gateway. Every refusal is a JSON body. */
export function createHandler(deps: HandleDeps): (RequestHandler | ErrorRequestHandler)[] {
  return [
    receive(deps),
    inOrder(
      (exchange) => findRoute(deps, exchange),
      (exchange) => countIn(deps, exchange),
      (exchange) => identify(deps, exchange),
      (exchange) => enter(deps, exchange),
      (exchange) => forward(deps, exchange),
    ),
    refuseThrown(deps),
  ];
}

/** Separates requests of the API from requests for pages and for unknown paths. */
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
 * Finds the route of the request. Returns false when the request asked for the methods of its path and has been answered.
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

/** Counts the request as present and watches it until it ends. @throws AppError payload_too_large_error */
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

/** Finds the caller and checks that he may use the route. */
function identify(deps: HandleDeps, exchange: Exchange): void | Promise<void> {
  const { address, route } = exchange;
  const isRated = deps.limits.ratePerMinute > 0;
  const counted = isRated ? countRequest(deps.rateCache, address, deps.limits, deps.clock.now()) : undefined;
  const isSignIn = route.contract.session === 'opens';
  const caller = andThen(counted, () =>
    isSignIn ? signIn(deps, exchange) : authorize(deps, authorizationOf(exchange)),
  );
  return andThen(caller, (known) => admit(deps, exchange, known));
}

/** Notes the caller, and refuses the request where maintenance mode does not allow it. */
function admit(deps: HandleDeps, exchange: Exchange, caller: Caller | null): void | Promise<void> {
  const { answerHeaders } = exchange;
  exchange.caller = caller;
  answerHeaders.push(AUTH_METHOD, caller?.principal.authMethod ?? '');
  if (caller) {
    if (caller.principal.tenant !== '')
      answerHeaders.push('x-cloudify-audit-tenant', caller.principal.tenant);
    answerHeaders.push('x-cloudify-audit-username', caller.principal.username);
  }
  return andThen(deps.maintenance.settled(), () => admitInMaintenance(deps.maintenance, exchange));
}

/** Refuses the request where maintenance mode does not allow it, and announces a request that changes the mode. */
function admitInMaintenance(
  maintenance: HandleDeps['maintenance'],
  { response, method, api, route, headers, caller }: Exchange,
): void {
  checkMaintenance(maintenance.state(), { route, method, path: api.path, headers }, caller);
  const isChange = method === 'POST' && route.contract.path.startsWith('/maintenance');
  if (isChange) response.once('close', maintenance.changing());
}

function authorizationOf(exchange: Exchange): AuthorizationRequest {
  const { request, method, api, query, address, route, segments, headers } = exchange;
  return { request, method, route, segments, query, headers, address, isLegacy: api.version === 'v2.1' };
}

/** Counts the request for its caller, waits for a short body, and then takes a place in the room. */
function enter(deps: HandleDeps, exchange: Exchange): void | Promise<void> {
  const { request, method, caller, visit, answerHeaders, hasBody } = exchange;
  const { contract } = exchange.route;
  if (caller) visit.identify(caller.principal.username, caller.principal.tenant);
  return andThen(caller ? deps.tenantRequests(caller.principal) : undefined, (ofTenant) => {
    if (ofTenant) answerHeaders.push(...ofTenant);
    if (caller) {
      const { username, tenant } = caller.principal;
      answerHeaders.push(...deps.rates.count(contract, method, username, tenant));
    }
    const isShort = contract.rawBody !== 'archive' && hasBody;
    const body = isShort && !request.complete ? bodyHasCome(request) : undefined;
    return andThen(body, () => visit.enter());
  });
}

/** The last step: the answer comes from the service, or from the error on the way to it. */
function forward(deps: HandleDeps, exchange: Exchange): void {
  const { request, response, method, api, query, caller, headers, answerHeaders, hasBody } = exchange;
  const { contract, isLong } = exchange.route;
  const outgoing = headers.forwarded;
  // The same Principal object is signed twice a minute, not once for each request.
  if (caller)
    outgoing.push(
      principalHeader,
      signPrincipal(caller.principal, deps.identityKey, contract.owner, deps.clock),
    );
  // The client left while the caller was looked up, or the request was ended because its body came too slowly.
  if (response.destroyed || response.headersSent) return;
  if (api.hasBareLists && contract.list) outgoing.push(bareListHeader, 'yes');
  // The name of a session cookie depends on HTTPS.
  if (contract.session && deps.sessions.isHttps(request)) outgoing.push(httpsHeader, 'yes');
  if (NEEDS_ORIGIN.has(contract.session)) outgoing.push(originHeader, deps.sessions.originOf(request));
  if (NEEDS_ADDRESS.has(contract.session)) outgoing.push(addressHeader, exchange.address);
  if (contract.responseKind === 'events') watchStream(deps, exchange);
  const asked = deps.pageSize.complete(contract, query);
  deps.forwarder.forward(
    {
      service: contract.owner,
      // node:http itself omits the body of an answer to HEAD.
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
}

/**
 * Ends the stream when the session or token that opened it ends, also when it ends only by its time. A password is not checked
 * again: a wrong one would count against its account, once for each stream.
 */
function watchStream(deps: HandleDeps, exchange: Exchange): void {
  const { caller, response } = exchange;
  const method = caller?.principal.authMethod;
  if (!caller || (method !== 'session' && method !== 'token')) return;
  const request = authorizationOf(exchange);
  // Read the credential now: a service in this process overwrites the headers.
  const credential = credentialOf(deps, request);
  const leave = deps.openStreams.add({
    username: caller.principal.username,
    endsAtMs: caller.endsAtMs,
    authorizeAgain: async () => authorizeAs(deps, request, credential),
    end: () => response.destroy(),
  });
  response.once('close', leave);
}

/**
 * Answers the error that a step has thrown. An error outside an exchange goes on to Express: only the broken connection can tell
 * the client.
 */
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
