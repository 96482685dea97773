/**
 * The tenant that the running request belongs to, for the database's own isolation of tenants (docs/adr/0015): packages/http
 * says it, packages/postgres gives it to the connections. Neither imports the other: the store is found by `tenantScopeKey`.
 */
export interface TenantScope {
  /** Open while the handler runs: work that only inherited the context is not the request's. */
  isOpen: boolean;
  /** Schema of the service that carries it out: what another service does meanwhile is not bound to it. */
  schema: string;
  /** Rows of this tenant may be read and written. */
  tenant: string;
  /**
   * Which rows may be read: of the tenant and global ones, or of every tenant. The latter for `_all_tenants`, and for
   * changes: they compare names and look for dependents everywhere.
   */
  reach: 'own' | 'all';
}

/** Property of `globalThis` that holds the AsyncLocalStorage of the scope. */
export const tenantScopeKey: unique symbol = Symbol.for('baton.tenant');
