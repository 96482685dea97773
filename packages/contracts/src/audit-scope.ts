import type { ChangeMade } from './messages/audit';

/**
 * The current request, for the audit log: packages/http sets it, packages/postgres adds its message to the first
 * transaction that commits within it. Neither imports the other: both find the store by `auditScopeKey`.
 */
export interface AuditScope {
  /** Open while the handler runs: work that only inherited the context is not part of the request. */
  isOpen: boolean;
  isRecorded: boolean;
  tenant: string;
  /** Schema of the service that handles the request: changes by other services meanwhile are not changes of this request. */
  schema: string;
  entry(): ChangeMade;
}

/** Property of `globalThis` that holds the AsyncLocalStorage of the scope. */
export const auditScopeKey: unique symbol = Symbol.for('baton.audit');
