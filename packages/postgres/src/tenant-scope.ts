import { AsyncLocalStorage } from 'node:async_hooks';
import { type TenantScope, tenantScopeKey } from '@baton/contracts';

const shared = globalThis as { [tenantScopeKey]?: AsyncLocalStorage<TenantScope> };
const storage: AsyncLocalStorage<TenantScope> = (shared[tenantScopeKey] ??=
  new AsyncLocalStorage<TenantScope>());

/** The scope of the request that runs now in the service of `schema`; null for all other work. */
export function tenantScope(schema: string): TenantScope | null {
  const scope = storage.getStore();
  return scope?.isOpen === true && scope.schema === schema ? scope : null;
}

/**
 * Runs work of a request that writes into `tenant`; the caller has checked the right to do so. Without a request it changes
 * nothing.
 */
export function writingTo<T>(tenant: string, work: () => Promise<T>): Promise<T> {
  const scope = storage.getStore();
  if (scope?.isOpen !== true) return work();
  const changed = {
    ...scope,
    tenant,
    get isOpen() {
      return scope.isOpen;
    },
  };
  return storage.run(changed, work);
}

/**
 * Runs work outside the scope of the current request: work after the request or for others (loops that were woken, messages, the
 * engine).
 */
export const outsideRequests = <T>(work: () => T): T => storage.exit(work);
