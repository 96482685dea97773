/**
 * The tenant of the current request, for the tenant isolation of the database (docs/adr/0015): packages/http sets it,
 * packages/postgres passes it to the connections. Neither imports the other: both find the store by `tenantScopeKey`.
 */
export interface TenantScope {
  /** Open while the handler runs: work that only inherited the context is not part of the request. */
  isOpen: boolean;
  /** Schema of the service that handles the request: other services meanwhile are not bound to the scope. */
  schema: string;
  /** Tenant whose rows may be read and written. */
  tenant: string;
  /**
   * Rows that may be read: those of the tenant and global ones, or those of every tenant. `all` is for `_all_tenants`
   * and for changes: changes compare names and look for dependents in all tenants.
   */
  reach: 'own' | 'all';
}

/** Property of `globalThis` that holds the AsyncLocalStorage of the scope. */
export const tenantScopeKey: unique symbol = Symbol.for('baton.tenant');
