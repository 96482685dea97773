import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { BREAKER_FAILURES } from '../domain/outcome';
import { hasDue, type LeasedDelivery, leaseDeliveries } from '../store/deliveries.sql';

/** Longer than an attempt with the calls around it. */
const LEASE_MS = 60_000;
/** Attempts of a process at once: in all, of one tenant, and at one webhook. A slow endpoint never has more places. */
const ROOM = { all: 32, perTenant: 8, perWebhook: 2 };

/**
 * Leases due deliveries for as many attempts as this process has room for. `tenants`: those of the attempts under way, one entry each.
 * After a crash the leases end, and any replica leases the deliveries again.
 */
export async function leaseDue(
  { db }: { db: Db<DB> },
  owner: string,
  tenants: readonly string[],
): Promise<LeasedDelivery[]> {
  const limit = ROOM.all - tenants.length;
  if (limit <= 0 || !(await hasDue(db.query))) return [];
  const { perTenant, perWebhook } = ROOM;
  const counts = new Map<string, number>();
  for (const tenant of tenants) counts.set(tenant, (counts.get(tenant) ?? 0) + 1);
  const fullTenants = [...counts].filter(([, count]) => count >= perTenant).map(([tenant]) => tenant);
  const room = { limit, perTenant, perWebhook, fullTenants, breakerFailures: BREAKER_FAILURES };
  return await leaseDeliveries(db.query, owner, LEASE_MS, room);
}
