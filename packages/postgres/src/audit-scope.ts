import type { AsyncLocalStorage } from 'node:async_hooks';
import type { ChangeMade } from '@baton/contracts';

/** What packages/http says about the request that is being carried out (audit-scope.ts there). */
interface AuditScope {
  isOpen: boolean;
  isRecorded: boolean;
  tenant: string;
  /** Schema of the service that carries it out: what another service does meanwhile is not this request's change. */
  schema: string;
  entry(): ChangeMade;
}

const KEY = Symbol.for('baton.audit');

export interface DueAudit {
  tenant: string;
  payload: ChangeMade;
  /** To be called when the transaction that holds it has committed. */
  recorded(): void;
}

/** The message that the first committed change of this request must carry; null: no request, or recorded already. */
export function dueAudit(schema: string): DueAudit | null {
  const storage = (globalThis as { [KEY]?: AsyncLocalStorage<AuditScope> })[KEY];
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
