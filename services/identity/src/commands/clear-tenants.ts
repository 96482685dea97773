import type { Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { underLease } from '@baton/service-runtime';
import type { TenantParts } from '../adapters/tenant-parts';
import type { DB as Tables } from '../store/tables.gen';
import { noteCleared, renewFormerTenant, takeFormerTenant } from '../store/tenants.sql';

/** Lease of one replica on a tenant; renewed while the replica works on it. */
const LEASE_MS = 15_000;
/** Most calls in one step; each removes a bounded number of rows in every service. */
const MAX_CALLS = 20;
/** After this time, everything that was on its way when the tenant was removed (log lines, ends of executions) has arrived. */
const SETTLED_MS = 10 * 60_000;
/** Before SETTLED_MS the leftovers are looked for again after a wait as long as the tenant has been gone, within these bounds. */
const AGAIN_MS = { least: 10_000, most: 5 * 60_000 };
/** Wait after a fault of the platform: a service is unavailable. */
const RETRY_MS = 2_000;

interface Deps {
  db: Db<Tables>;
  tenantParts: Pick<TenantParts, 'clear'>;
  log: Log;
}

/**
 * Does one step of removing the leftovers of a removed tenant from the services. The tenant is done when a look after SETTLED_MS
 * found nothing. Returns the ms after which the next step can follow; null when no tenant is due. When a service is unavailable,
 * the tenant is tried again soon. After a crash the lease expires and the loop of any replica continues; every call may be
 * repeated.
 */
export async function clearTenantStep(deps: Deps, stopping: AbortSignal): Promise<number | null> {
  const tenant = await takeFormerTenant(deps.db.query, LEASE_MS);
  if (!tenant) return null;
  const renew = () => renewFormerTenant(deps.db.query, tenant.name, LEASE_MS);
  const lease = { leaseMs: LEASE_MS, renew, stopping, log: deps.log };
  try {
    const isLeft = await underLease(lease, (signal) => clearPart(deps, tenant.name, signal));
    await noteCleared(deps.db.query, tenant.name, isLeft ? 0 : nextLookMs(tenant.goneMs));
    return 0;
  } catch (err) {
    deps.log.warn({ tenant: tenant.name, err }, 'what a removed tenant left stays for now');
    await noteCleared(deps.db.query, tenant.name, RETRY_MS);
    return RETRY_MS;
  }
}

/** Returns the wait until the next look; null when nothing more can arrive. */
function nextLookMs(goneMs: number): number | null {
  return goneMs >= SETTLED_MS ? null : Math.min(Math.max(goneMs, AGAIN_MS.least), AGAIN_MS.most);
}

/** Removes leftovers; returns whether some may remain. */
async function clearPart(deps: Deps, tenant: string, signal: AbortSignal): Promise<boolean> {
  for (let call = 0; call < MAX_CALLS && !signal.aborted; call++)
    if ((await deps.tenantParts.clear(tenant)) === 0) return false;
  return true;
}
