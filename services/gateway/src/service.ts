import {
  configChanged,
  credentialsChanged,
  executionsRpc,
  identityRpc,
  maintenanceChanged,
  type RouteContract,
  type ServiceName,
} from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { createFloodLog, type FloodLog } from '@baton/kernel';
import {
  createTenantLimits,
  type Infra,
  productVersion,
  requireTrust,
  type ServiceParts,
  subscriptionPart,
  type TenantLimitsSource,
} from '@baton/service-runtime';
import type { RequestHandler } from 'express';
import { type AgentsDeps, createAgents } from './agents';
import type { OpenRequests } from './agents/open-requests';
import { createBrowserSessions } from './browser-sessions';
import { createAddressOf, createIsHttps } from './client-address';
import type { Config } from './config';
import { createFixedHeaders } from './fixed-headers';
import type { Forwarder } from './forward';
import { createHandler, type HandleDeps } from './handle-request';
import { createHttpForwarder } from './http-forwarder';
import { countRequest, type LimitSettings } from './limits';
import { createLocalForwarder } from './local-forwarder';
import { createLoginGuard } from './login-guard';
import { createMaintenance, type Maintenance } from './maintenance-state';
import { requestObserver } from './metrics';
import { createOpenStreams, type OpenStreams } from './open-streams';
import { createOwnOrigin } from './own-origin';
import { createPageSize, type PageSize } from './page-size';
import { createPages } from './pages';
import { createPrincipalCache, type PrincipalCache } from './principal-cache';
import { createRates, type RateSettings } from './rates';
import { createRequestIds } from './request-headers';
import { createRoom } from './room';
import { compileRoutes } from './route-table';
import { createSignInWaits } from './sign-in-waits';
import { createSlowPeers, type SlowPeerSettings } from './slow-peers';
import { createTenantRequests } from './tenant-requests';

export { configSchema } from './config';

export const serviceName = 'gateway';

/** Builds the gateway in front of `routes`; with `infra.localHttp` the services are reached within the process. */
export function buildService(
  config: Config,
  infra: Infra,
  ports: { routes?: readonly RouteContract[] } = {},
): ServiceParts {
  const routes = ports.routes ?? allRoutes;
  const { rpc, clock, log } = infra;
  const cache = createPrincipalCache(clock);
  const limits = createTenantLimits(rpc);
  const guards = guardsOf(config, infra, limits);
  const forget = createForget(cache, guards.openStreams);
  const floods = createFloodLog(log, clock);
  const maintenance = createMaintenance(infra, guards.room);
  const forwarder = forwarderOf(config, infra);
  const isHttps = createIsHttps(config.BATON_TRUSTED_PROXIES);
  const fixedHeaders = createFixedHeaders(config.BATON_HSTS, isHttps);
  const pageSize = createPageSize(rpc);
  const addressOf = createAddressOf(config.BATON_TRUSTED_PROXIES);
  const agents = createAgents({ infra, config, floods, fixedHeaders, addressOf, ...counting(guards, clock) });
  const handler = createHandler({
    identity: rpc.client(identityRpc.IdentityServiceDefinition, 'identity'),
    executions: rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions'),
    cache,
    ...guards,
    routes: compileRoutes(routes),
    pages: pagesAfter(agents.openRequests, createPages(routes, productVersion, fixedHeaders)),
    fixedHeaders,
    forwarder,
    sessions: createBrowserSessions(isHttps, createOwnOrigin(config.BATON_TRUSTED_PROXIES)),
    addressOf,
    identityKey: requireTrust(infra).identity,
    mintRequestId: createRequestIds(),
    clock,
    log,
    floods,
    maintenance,
    pageSize,
    observe: requestObserver(infra.metrics),
  });
  return {
    name: 'gateway',
    routes: [],
    rpc: [],
    consumers: [],
    subscriptions: [
      ...subscriptionsOf(forget, pageSize, maintenance),
      limits.subscription,
      ...agents.subscriptions,
    ],
    loops: [limits.loop, ...agents.loops],
    checks: {},
    rawHandler: handler,
    sideDoor: agents.sideDoor,
    start: agents.start,
    onMaintenance: maintenance.learn,
    onConfig: pageSize.refresh,
    actsBy: maintenance.actsBy,
    stop: stopOf(guards, floods, forwarder),
  };
}

const stopOf =
  ({ slowPeers }: Pick<HandleDeps, 'slowPeers'>, floods: FloodLog, forwarder: Forwarder) =>
  async (): Promise<void> => {
    slowPeers.close();
    floods.flush();
    await forwarder.close();
  };

/** Guards of requests that need no credential. */
const counting = (
  { rateCache, limits, slowPeers }: Pick<HandleDeps, 'rateCache' | 'limits' | 'slowPeers'>,
  clock: Infra['clock'],
): Pick<AgentsDeps, 'slowPeers' | 'countRequest'> => ({
  slowPeers,
  countRequest: (address) =>
    limits.ratePerMinute > 0 ? countRequest(rateCache, address, limits, clock.now()) : undefined,
});

/** Answers requests of agents, and passes the others on to the pages. */
const pagesAfter =
  (openRequests: OpenRequests, pages: RequestHandler): RequestHandler =>
  (request, response, next) => {
    if (!openRequests(request, response)) pages(request, response, next);
  };

const subscriptionsOf = (
  forget: ReturnType<typeof createForget>,
  pageSize: PageSize,
  maintenance: Maintenance,
): ServiceParts['subscriptions'] => [
  subscriptionPart(credentialsChanged, ({ payload }) => forget(payload.username)),
  subscriptionPart(configChanged, pageSize.refresh),
  subscriptionPart(maintenanceChanged, maintenance.refresh),
];

/**
 * Makes the function that handles a change of a user's credentials (empty name: of every user): it forgets cached callers and
 * checks open streams again.
 */
const createForget = (cache: PrincipalCache, streams: OpenStreams) => (username: string) => {
  cache.forget(username);
  return streams.recheck(username);
};

/** Builds the limits for callers that send too many requests, too fast or too slowly. */
function guardsOf(
  config: Config,
  { cache, clock }: Infra,
  limits: TenantLimitsSource,
): Pick<
  HandleDeps,
  | 'logins'
  | 'signInWaits'
  | 'limits'
  | 'rateCache'
  | 'rates'
  | 'tenantRequests'
  | 'room'
  | 'openStreams'
  | 'slowPeers'
> {
  return {
    logins: createLoginGuard({
      cache,
      clock,
      settings: {
        freeFailures: config.BATON_LOGIN_FREE_FAILURES,
        longestDelayMs: config.BATON_LOGIN_LONGEST_DELAY,
      },
    }),
    signInWaits: createSignInWaits(),
    limits: limitsOf(config),
    rateCache: cache,
    rates: createRates(rateSettings(config), clock),
    tenantRequests: createTenantRequests(limits, cache, clock),
    room: createRoom({
      maxConcurrent: config.BATON_MAX_CONCURRENT_REQUESTS,
      maxStreams: config.BATON_MAX_EVENT_STREAMS,
    }),
    openStreams: createOpenStreams(clock),
    slowPeers: createSlowPeers(slowPeerSettings(config), clock),
  };
}

function forwarderOf(config: Config, { localHttp, log, transport }: Infra): Forwarder {
  return localHttp
    ? createLocalForwarder((service) => localHttp.handleOf(service))
    : createHttpForwarder({ origins: originsOf(config), log, tls: transport?.inner });
}

function limitsOf(config: Config): LimitSettings {
  return {
    maxBodyBytes: config.BATON_MAX_BODY_BYTES,
    maxUploadBytes: config.BATON_MAX_UPLOAD_BYTES,
    ratePerMinute: config.BATON_RATE_LIMIT,
  };
}

const slowPeerSettings = (config: Config): SlowPeerSettings => ({
  bodyIdleMs: config.BATON_BODY_IDLE,
  uploadIdleMs: config.BATON_UPLOAD_IDLE,
  leastRate: config.BATON_BODY_LEAST_RATE,
  answerIdleMs: config.BATON_ANSWER_IDLE,
});

const rateSettings = (config: Config): RateSettings => ({
  requests: config.BATON_USER_RATE_LIMIT,
  changes: config.BATON_USER_CHANGE_LIMIT,
  uploads: config.BATON_USER_UPLOAD_LIMIT,
});

function originsOf(config: Config): Partial<Record<ServiceName, string>> {
  return {
    identity: config.BATON_HTTP_IDENTITY,
    catalog: config.BATON_HTTP_CATALOG,
    deployments: config.BATON_HTTP_DEPLOYMENTS,
    executions: config.BATON_HTTP_EXECUTIONS,
    secrets: config.BATON_HTTP_SECRETS,
    'cluster-status': config.BATON_HTTP_CLUSTER_STATUS,
  };
}
