import { catalogRpc, deploymentsRpc, executionsRpc, requestsKey } from '@baton/contracts';
import type { Infra } from '@baton/service-runtime';

/** A tenant's usage of each limited resource; null: not counted, or the service that owns it did not answer. */
export interface TenantUsage {
  deployments: number | null;
  running: number | null;
  queued: number | null;
  storageBytes: number | null;
  /** Requests in this minute, if they are counted. */
  requests: number | null;
}

export type ReadUsage = (tenant: string) => Promise<TenantUsage>;

/** Short, because a user waits for the page. */
const DEADLINE_MS = 3_000;

/** Asks all owners at the same time; the numbers of an owner that does not answer are null. */
export function createTenantUsage({
  rpc,
  cache,
  clock,
  log,
}: Pick<Infra, 'rpc' | 'cache' | 'clock' | 'log'>): ReadUsage {
  const deployments = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
  const executions = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  const catalog = rpc.client(catalogRpc.CatalogServiceDefinition, 'catalog');
  const options = { deadlineMs: DEADLINE_MS };
  const orNull = <T>(asked: Promise<T>): Promise<T | null> =>
    asked.catch((err: unknown) => {
      log.warn({ err }, 'what a tenant has could not be asked for');
      return null;
    });
  return async (tenant) => {
    const [counted, work, storage, requests] = await Promise.all([
      orNull(deployments.countDeployments({ tenant }, options)),
      orNull(executions.getTenantUsage({ tenant }, options)),
      orNull(catalog.getStorage({ tenant }, options)),
      orNull(cache.get(requestsKey(tenant, clock.now()))),
    ]);
    return {
      deployments: counted?.count ?? null,
      running: work?.running ?? null,
      queued: work?.queued ?? null,
      storageBytes: storage && storage.blueprints + storage.plugins + storage.files,
      requests: requests === null ? null : Number(requests),
    };
  };
}
