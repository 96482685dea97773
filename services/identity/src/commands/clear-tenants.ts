import type { Db } from '@baton/postgres';
import type { TenantParts } from '../adapters/tenant-parts';
import type { DB as Tables } from '../store/tables.gen';
import { noteCleared, takeFormerTenant } from '../store/tenants.sql';

/** While one replica has a tenant in hand; longer than a step takes. */
const LEASE_MS = 120_000;
/** Calls of a step; each removes a bounded number of rows in every service. */
const MAX_CALLS = 20;
/** What was on its way when a tenant went (log lines, ends of executions) has arrived after this. */
const SETTLED_MS = 10 * 60_000;
const AGAIN_MS = 5 * 60_000;

/**
 * One step of removing what a removed tenant left in the services. Nothing was left once a look late enough found nothing.
 * Answers whether there is more to do at once; null: no tenant is due. A crash in it: the lease ends, and the loop of any
 * replica goes on; every call may be repeated.
 */
export async function clearTenantStep(deps: {
  db: Db<Tables>;
  tenantParts: Pick<TenantParts, 'clear'>;
}): Promise<number | null> {
  const tenant = await takeFormerTenant(deps.db.query, LEASE_MS, SETTLED_MS);
  if (!tenant) return null;
  for (let call = 0; call < MAX_CALLS; call++) {
    if ((await deps.tenantParts.clear(tenant.name)) > 0) continue;
    await noteCleared(deps.db.query, tenant.name, tenant.isSettled ? null : AGAIN_MS);
    return 0;
  }
  await noteCleared(deps.db.query, tenant.name, 0);
  return 0;
}
