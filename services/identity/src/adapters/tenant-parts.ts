import { type ServiceName, tenantsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** Access to the data that other services hold of a tenant. */
export interface TenantParts {
  /**
   * Closes the tenant: nothing can be created in it from then on. Returns its contents, e.g. `['2 deployments']`. May be repeated.
   */
  close(tenant: string): Promise<string[]>;
  /** Opens the tenant. `isNew`: without the leftovers of an earlier tenant of that name. May be repeated. */
  open(tenant: string, isNew: boolean): Promise<void>;
  /** Removes some of the leftovers of a removed tenant; returns the number of removed rows, 0: nothing is left. May be repeated. */
  clear(tenant: string): Promise<number>;
}

const HOLDERS: readonly ServiceName[] = ['catalog', 'deployments', 'executions', 'secrets', 'cluster-status'];
/** Long enough for a creation that is running, such as a big group of deployments. */
const DEADLINE_MS = 20_000;

export function createTenantParts(rpc: RpcConnector): TenantParts {
  const parts = HOLDERS.map((service) => rpc.client(tenantsRpc.TenantPartServiceDefinition, service));
  const options = { deadlineMs: DEADLINE_MS };
  return {
    async close(tenant) {
      const answers = await Promise.all(parts.map((part) => part.closeTenant({ tenant }, options)));
      return answers.flatMap(({ contents }) => contents);
    },
    async open(tenant, isNew) {
      await Promise.all(parts.map((part) => part.openTenant({ tenant, isNew }, options)));
    },
    async clear(tenant) {
      const answers = await Promise.all(parts.map((part) => part.clearTenant({ tenant }, options)));
      return answers.reduce((sum, { removed }) => sum + removed, 0);
    },
  };
}
