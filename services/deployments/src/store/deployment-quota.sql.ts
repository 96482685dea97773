import { quotaReached } from '@baton/contracts';
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

/** Counts the deployments of the tenant, up to `most`. */
async function countUpTo(db: AnyQuery | AnyTx, tenant: string, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select 1 from deployments where tenant = ${tenant} limit ${most}) counted`.execute(
    db,
  );
  return rows[0]!.count;
}

const noRoom = (tenant: string, limit: number, usage: number) =>
  quotaReached({
    quota: 'max_deployments',
    tenant,
    limit,
    usage,
    what: 'deployments',
    remedy: 'delete some',
  });

/**
 * Checks, before the work of creating `further` deployments, whether there is room for them now. `limit` null: any number, which
 * costs nothing.
 * @throws AppError too_many_requests_error
 */
export async function refuseWithoutRoom(
  db: AnyQuery,
  tenant: string,
  limit: number | null,
  further: number,
): Promise<void> {
  if (limit === null) return;
  const usage = await countUpTo(db, tenant, limit + 1);
  if (usage + further > limit) throw noRoom(tenant, limit, usage);
}

/**
 * Checks the quota. Call it last in a transaction that has created `made` deployments: they are included in the count. Transactions
 * of one tenant wait for each other's commit, so that two cannot use the same room; no lock is taken after this one.
 * @throws AppError too_many_requests_error
 */
export async function requireRoom(
  tx: AnyTx,
  tenant: string,
  limit: number | null,
  made: number,
): Promise<void> {
  if (limit === null || made === 0) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`deployments of ${tenant}`}, 0))`.execute(tx);
  // A separate statement: it sees the commits made while the lock was waited for.
  const count = await countUpTo(tx, tenant, limit + made);
  if (count > limit) throw noRoom(tenant, limit, count - made);
}

/** Counts all deployments of the tenant. */
export async function countDeployments(db: AnyQuery, tenant: string): Promise<number> {
  return await countUpTo(db, tenant, Number.MAX_SAFE_INTEGER);
}
