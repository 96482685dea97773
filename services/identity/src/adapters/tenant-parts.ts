import { type ServiceName, tenantsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** What other services hold of a tenant. */
export interface TenantParts {
  /** Nothing can be made in the tenant from then on; answers what is there, e.g. `['2 deployments']`. May be repeated. */
  close(tenant: string): Promise<string[]>;
  /** `isNew`: without what an earlier tenant of that name left. May be repeated. */
  open(tenant: string, isNew: boolean): Promise<void>;
  /** Removes a part of what a removed tenant left; answers how many rows, 0: nothing is left. May be repeated. */
  clear(tenant: string): Promise<number>;
}

const HOLDERS: readonly ServiceName[] = ['catalog', 'deployments', 'executions', 'secrets', 'cluster-status'];
/** Waits for what is being made, such as a big group of deployments. */
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
