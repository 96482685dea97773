import type { Log } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { underLease } from '@baton/service-runtime';
import type { TenantParts } from '../adapters/tenant-parts';
import type { DB as Tables } from '../store/tables.gen';
import { noteCleared, renewFormerTenant, takeFormerTenant } from '../store/tenants.sql';

/** While one replica has a tenant in hand; renewed as long as it works. */
const LEASE_MS = 15_000;
/** Calls of a step; each removes a bounded number of rows in every service. */
const MAX_CALLS = 20;
/** What was on its way when a tenant went (log lines, ends of executions) has arrived after this. */
const SETTLED_MS = 10 * 60_000;
/** Until then it is looked for again after as long as the tenant has been gone, within these bounds. */
const AGAIN_MS = { least: 10_000, most: 5 * 60_000 };
/** After a fault of the platform: a service is away. */
const RETRY_MS = 2_000;

interface Deps {
  db: Db<Tables>;
  tenantParts: Pick<TenantParts, 'clear'>;
  log: Log;
}

/**
 * One step of removing what a removed tenant left in the services. Nothing was left once a look late enough found nothing.
 * Answers after how many ms it can go on; null: no tenant is due. A service that is away gets the tenant again soon. A
 * crash in it: the lease ends, and the loop of any replica goes on; every call may be repeated.
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

/** Null: what comes now would have come before. */
function nextLookMs(goneMs: number): number | null {
  return goneMs >= SETTLED_MS ? null : Math.min(Math.max(goneMs, AGAIN_MS.least), AGAIN_MS.most);
}

/** Whether something may be left. */
async function clearPart(deps: Deps, tenant: string, signal: AbortSignal): Promise<boolean> {
  for (let call = 0; call < MAX_CALLS && !signal.aborted; call++)
    if ((await deps.tenantParts.clear(tenant)) === 0) return false;
  return true;
}
