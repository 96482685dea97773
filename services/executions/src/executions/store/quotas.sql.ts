import type { AnyQuery, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import type { ExecutionQuota } from '../domain/quota';

/** Of `executions e`: one that the quota of its tenant is about (executions/domain/quota.ts); migration 0190 has the same. */
const isUnderQuota = sql`(e.parent_id is null and not e.is_system_workflow)`;
const isAtWork = sql`(e.phase <> 'ended' and e.phase <> 'waiting')`;

/**
 * Orders all that counts the executions of a tenant to the end of the transaction: after `lockDequeue`, before `lockStarts`.
 * Nothing is locked where the tenant has no limit.
 */
export async function lockQuota(tx: Tx<DB>, tenant: string, quota: Readonly<ExecutionQuota>): Promise<void> {
  if (quota.running === null && quota.queued === null) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`executions of ${tenant}`}, 0))`.execute(tx);
}

/** Executions of the tenant at work, counted no further than `limit`. */
export async function countRunning(db: AnyQuery, tenant: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select 1 from executions e
      where e.tenant = ${tenant} and ${isAtWork} and ${isUnderQuota} limit ${limit}) counted`.execute(db);
  return rows[0]!.count;
}

/** Whether so many executions of the tenant are at work as may be; costs nothing where any number may. */
export async function isRunningFull(
  db: AnyQuery,
  tenant: string,
  { running: limit }: Readonly<ExecutionQuota>,
): Promise<boolean> {
  return limit !== null && (await countRunning(db, tenant, limit)) >= limit;
}

/** Executions of the tenant that wait, counted no further than `limit`. */
export async function countQueued(db: AnyQuery, tenant: string, limit: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select 1 from executions e
      where e.tenant = ${tenant} and e.phase = 'waiting' and ${isUnderQuota} limit ${limit}) counted`.execute(
    db,
  );
  return rows[0]!.count;
}

/** Tenants with queued executions, as many as may start of each in `limitOf` (null: any number); answers those with no room. */
export async function fullTenants(
  db: AnyQuery,
  limitOf: (tenant: string) => number | null,
): Promise<string[]> {
  const { rows } = await sql<{ tenant: string }>`
    select distinct e.tenant from executions e where e.phase = 'waiting' and e.status = 'queued'
    union select g.tenant from execution_groups g where g.has_queued`.execute(db);
  const limited = rows.flatMap(({ tenant }) => {
    const limit = limitOf(tenant);
    return limit === null ? [] : [{ tenant, limit }];
  });
  if (limited.length === 0) return [];
  const full = await sql<{ tenant: string }>`
    select t.tenant from unnest(${limited.map(({ tenant }) => tenant)}::text[],
      ${limited.map(({ limit }) => limit)}::bigint[]) as t(tenant, most)
    where (select count(*) from (select 1 from executions e
      where e.tenant = t.tenant and ${isAtWork} and ${isUnderQuota} limit t.most) counted) >= t.most`.execute(
    db,
  );
  return full.rows.map(({ tenant }) => tenant);
}

/** All that the tenant has under its quota. */
export async function tenantUsage(
  db: AnyQuery,
  tenant: string,
): Promise<{ running: number; queued: number }> {
  const { rows } = await sql<{ running: number; queued: number }>`
    select count(*) filter (where e.phase <> 'waiting')::float8 as running,
      count(*) filter (where e.phase = 'waiting')::float8 as queued
    from executions e where e.tenant = ${tenant} and e.phase <> 'ended' and ${isUnderQuota}`.execute(db);
  return rows[0]!;
}
