import * as catalog from '@baton/catalog';
import * as clusterStatus from '@baton/cluster-status';
import type { ServiceName } from '@baton/contracts';
import * as deployments from '@baton/deployments';
import * as executions from '@baton/executions';
import * as gateway from '@baton/gateway';
import * as identity from '@baton/identity';
import * as secrets from '@baton/secrets';
import type { Infra, ServiceParts } from '@baton/service-runtime';

interface ServiceModule {
  serviceName: ServiceName;
  // biome-ignore lint/suspicious/noExplicitAny: each service has a configuration of its own.
  configSchema: any;
  // biome-ignore lint/suspicious/noExplicitAny: see above.
  buildService(config: any, infra: Infra<any>): ServiceParts | Promise<ServiceParts>;
}

/** The services of one process in the order of their start; the gateway starts last, when all others answer. */
export const services: readonly ServiceModule[] = [
  identity,
  secrets,
  catalog,
  deployments,
  executions,
  clusterStatus,
  gateway,
];
