import { AsyncLocalStorage } from 'node:async_hooks';
import { type RouteContract, type ServiceName, type TenantScope, tenantScopeKey } from '@baton/contracts';
import type { RequestCall } from './request-call';

const shared = globalThis as { [tenantScopeKey]?: AsyncLocalStorage<TenantScope> };
const storage: AsyncLocalStorage<TenantScope> = (shared[tenantScopeKey] ??=
  new AsyncLocalStorage<TenantScope>());

/**
 * Services whose rows belong to tenants, and which of their requests the database restricts to one tenant. Writes of executions
 * drive the engine, which works for all tenants at once.
 */
const ISOLATED: Partial<Record<ServiceName, 'all' | 'reads'>> = {
  catalog: 'all',
  deployments: 'all',
  secrets: 'all',
  executions: 'reads',
};

/** Runs the handler so that the database shows it only rows of the request's tenant. */
export async function isolated<T>(
  service: ServiceName,
  contract: RouteContract,
  call: RequestCall,
  handler: () => Promise<T> | T,
): Promise<T> {
  const which = ISOLATED[service];
  const { tenant } = call.principal;
  if (which === undefined || tenant === '' || (which === 'reads' && contract.method !== 'GET'))
    return handler();
  const scope: TenantScope = { isOpen: true, schema: service, tenant, reach: reachOf(contract, call) };
  try {
    return await storage.run(scope, handler);
  } finally {
    scope.isOpen = false;
  }
}

function reachOf({ method, list }: RouteContract, { list: asked, query }: RequestCall): TenantScope['reach'] {
  if (method !== 'GET' && !list) return 'all';
  const isAll = list
    ? asked.allTenants
    : (query as { _all_tenants?: unknown } | undefined)?._all_tenants === true;
  return isAll ? 'all' : 'own';
}
