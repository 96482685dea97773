import {
  configChanged,
  credentialsChanged,
  executionsRpc,
  identityRpc,
  type RouteContract,
  type ServiceName,
} from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { createFloodLog } from '@baton/kernel';
import { type Infra, productVersion, type ServiceParts, subscriptionPart } from '@baton/service-runtime';
import { createAddressOf } from './client-address';
import type { Config } from './config';
import { createHandler } from './handle-request';
import { createHttpForwarder } from './http-forwarder';
import type { LimitSettings } from './limits';
import { createLocalForwarder } from './local-forwarder';
import { createMaintenance } from './maintenance-state';
import { requestObserver } from './metrics';
import { createPageSize } from './page-size';
import { createPages } from './pages';
import { createPrincipalCache } from './principal-cache';
import { createRates, type RateSettings } from './rates';
import { createRequestIds } from './request-headers';
import { createRoom } from './room';
import { compileRoutes } from './route-table';
import { createSlowPeers, type SlowPeerSettings } from './slow-peers';

export { configSchema } from './config';

export const serviceName = 'gateway';

/** The edge in front of `routes`; with `infra.localHttp` the services are reached within the process. */
export function buildService(
  config: Config,
  infra: Infra,
  ports: { routes?: readonly RouteContract[] } = {},
): ServiceParts {
  const routes = ports.routes ?? allRoutes;
  const { localHttp, rpc, clock, log } = infra;
  const cache = createPrincipalCache(clock);
  const limits = limitsOf(config);
  const room = createRoom({
    maxConcurrent: config.BATON_MAX_CONCURRENT_REQUESTS,
    maxStreams: config.BATON_MAX_EVENT_STREAMS,
  });
  const slowPeers = createSlowPeers(slowPeerSettings(config), clock);
  const floods = createFloodLog(log, clock);
  const maintenance = createMaintenance(infra, room);
  const forwarder = localHttp
    ? createLocalForwarder((service) => localHttp.handleOf(service))
    : createHttpForwarder({ origins: originsOf(config), log, tls: infra.transport?.inner });
  const pageSize = createPageSize(rpc);
  const observe = requestObserver(infra.metrics);
  const handler = createHandler({
    identity: rpc.client(identityRpc.IdentityServiceDefinition, 'identity'),
    executions: rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions'),
    cache,
    routes: compileRoutes(routes),
    pages: createPages(routes, productVersion),
    forwarder,
    rateCache: infra.cache,
    room,
    rates: createRates(rateSettings(config), clock),
    slowPeers,
    addressOf: createAddressOf(config.BATON_TRUSTED_PROXIES),
    limits,
    internalKey: config.BATON_INTERNAL_KEY,
    mintRequestId: createRequestIds(),
    clock,
    log,
    floods,
    maintenance: maintenance.state,
    pageSize,
    observe: (contract, method, status, durationMs) => {
      observe(contract, method, status, durationMs);
      // Other gateways learn it with their next heartbeat; the one that passed it on must not lag behind.
      if (method === 'POST' && contract?.path.startsWith('/maintenance')) void maintenance.refresh();
    },
  });
  return {
    name: 'gateway',
    routes: [],
    rpc: [],
    consumers: [],
    subscriptions: [
      subscriptionPart(credentialsChanged, ({ payload }) => cache.forget(payload.username)),
      subscriptionPart(configChanged, () => pageSize.refresh()),
    ],
    loops: [],
    checks: {},
    rawHandler: handler,
    onMaintenance: maintenance.learn,
    onConfig: pageSize.refresh,
    actsBy: maintenance.actsBy,
    stop: async () => {
      slowPeers.close();
      floods.flush();
      await forwarder.close();
    },
  };
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
