import type { AsyncLocalStorage } from 'node:async_hooks';
import { type AuditScope, auditScopeKey, type ChangeMade } from '@baton/contracts';

export interface DueAudit {
  tenant: string;
  payload: ChangeMade;
  /** Call this when the transaction that holds the message has committed. */
  recorded(): void;
}

/** Returns the message that the first committed change of this request must carry; null: no request, or recorded already. */
export function dueAudit(schema: string): DueAudit | null {
  const storage = (globalThis as { [auditScopeKey]?: AsyncLocalStorage<AuditScope> })[auditScopeKey];
  const scope = storage?.getStore();
  if (!scope?.isOpen || scope.isRecorded || scope.schema !== schema) return null;
  return {
    tenant: scope.tenant,
    payload: scope.entry(),
    recorded: () => {
      scope.isRecorded = true;
    },
  };
}
