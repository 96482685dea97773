import { tenantsRpc } from '@baton/contracts';
import { clearTenant, closeTenant, openTenant } from '@baton/postgres';
import type { RpcHandlers } from '@baton/rpc';
import type { Pool } from 'pg';

/** Rows that one call removes at most; what refers to them comes on top. */
const MAX_CLEARED = 1_000;

const definition = tenantsRpc.TenantPartServiceDefinition;

/** Serves what happens to the service's tables when a tenant goes or comes: `rpc: [createTenantPart(...)]`. */
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
