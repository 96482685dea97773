import type { ChangeMade } from './messages/audit';

/**
 * The request that is being carried out, for the audit log: packages/http says it, packages/postgres adds its message to
 * the first transaction that commits within it. Neither imports the other: the store is found by `auditScopeKey`.
 */
export interface AuditScope {
  /** Open while the handler runs: work that only inherited the context is not the request's. */
  isOpen: boolean;
  isRecorded: boolean;
  tenant: string;
  /** Schema of the service that carries it out: what another service does meanwhile is not this request's change. */
  schema: string;
  entry(): ChangeMade;
}

/** Property of `globalThis` that holds the AsyncLocalStorage of the scope. */
export const auditScopeKey: unique symbol = Symbol.for('baton.audit');
