import {
  configChanged,
  credentialsChanged,
  executionsRpc,
  identityRpc,
  type RouteContract,
  type ServiceName,
} from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import {
  type Infra,
  productVersion,
  requireTrust,
  type ServiceParts,
  subscriptionPart,
} from '@baton/service-runtime';
import type { Config } from './config';
import { createHandler } from './handle-request';
import { createHttpForwarder } from './http-forwarder';
import { createRoom, type LimitSettings } from './limits';
import { createLocalForwarder } from './local-forwarder';
import { createMaintenance } from './maintenance-state';
import { requestObserver } from './metrics';
import { createPageSize } from './page-size';
import { createPages } from './pages';
import { createPrincipalCache } from './principal-cache';
import { createRequestIds } from './request-headers';
import { compileRoutes } from './route-table';

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
  const room = createRoom(limits);
  const maintenance = createMaintenance(infra, room);
  const forwarder = localHttp
    ? createLocalForwarder((service) => localHttp.handleOf(service))
    : createHttpForwarder({ origins: originsOf(config), log });
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
    limits,
    identityKey: requireTrust(infra).identity,
    mintRequestId: createRequestIds(),
    clock,
    log,
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
    stop: () => forwarder.close(),
  };
}

function limitsOf(config: Config): LimitSettings {
  return {
    maxConcurrent: config.BATON_MAX_CONCURRENT_REQUESTS,
    maxStreams: config.BATON_MAX_EVENT_STREAMS,
    maxBodyBytes: config.BATON_MAX_BODY_BYTES,
    maxUploadBytes: config.BATON_MAX_UPLOAD_BYTES,
    ratePerMinute: config.BATON_RATE_LIMIT,
  };
}

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
