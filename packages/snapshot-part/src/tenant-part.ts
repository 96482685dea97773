import { tenantsRpc } from '@baton/contracts';
import { clearTenant, closeTenant, openTenant } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import type { Pool } from 'pg';

/** Most rows that one call removes; rows that refer to them are removed in addition. */
const MAX_CLEARED = 1_000;

const definition = tenantsRpc.TenantPartServiceDefinition;

/** Serves the changes of the service's tables when a tenant is removed or added: `rpc: [createTenantPart(...)]`. */
export function createTenantPart({ db, schema }: { db: { pool: Pool }; schema: string }): {
  definition: typeof definition;
  handlers: RpcHandlers<typeof definition>;
} {
  return {
    definition,
    handlers: {
      closeTenant: async ({ tenant }) => ({ contents: await closeTenant(db.pool, schema, tenant) }),
      openTenant: async ({ tenant, isNew }) => {
        await openTenant(db.pool, schema, tenant, isNew);
        return {};
      },
      clearTenant: async ({ tenant }) => ({
        removed: await clearTenant(db.pool, schema, tenant, MAX_CLEARED),
      }),
    },
  };
}
