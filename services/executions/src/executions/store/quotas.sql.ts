import type { AnyQuery, Tx } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import type { ExecutionQuota } from '../domain/quota';

/** SQL condition: the quota of its tenant applies to `executions e` (executions/domain/quota.ts); migration 0190 has the same. */
const isUnderQuota = sql`(e.parent_id is null and not e.is_system_workflow)`;
const isAtWork = sql`(e.phase <> 'ended' and e.phase <> 'waiting')`;
const isWaiting = sql`e.phase = 'waiting'`;
/** At work, or waiting for its turn; members of groups have a queue of their own. Migration 0240 has the same. */
const isAtWorkOrQueued = sql`(${isAtWork} or ${isWaiting} and e.status = 'queued' and e.execution_group_id is null)`;

/**
 * Locks the quota of a tenant until the end of the transaction, so that counts of its executions run one after another: taken after
 * `lockDequeue`, before `lockStarts`. Nothing is locked where the tenant has no limit.
 */
export async function lockQuota(tx: Tx<DB>, tenant: string, quota: Readonly<ExecutionQuota>): Promise<void> {
  if (quota.running === null && quota.queued === null) return;
  await sql`select pg_advisory_xact_lock(hashtextextended(${`executions of ${tenant}`}, 0))`.execute(tx);
}

/** Counts the tenant's executions under its quota that fulfil the condition `state`, no further than `limit`. */
async function countIn(
  db: AnyQuery,
  tenant: string,
  limit: number,
  state: RawBuilder<unknown>,
): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from (select 1 from executions e
      where e.tenant = ${tenant} and ${state} and ${isUnderQuota} limit ${limit}) counted`.execute(db);
  return rows[0]!.count;
}

/** Counts the executions of the tenant at work, no further than `limit`. */
export const countRunning = (db: AnyQuery, tenant: string, limit: number): Promise<number> =>
  countIn(db, tenant, limit, isAtWork);

/** Counts the executions of the tenant that wait, no further than `limit`. */
export const countQueued = (db: AnyQuery, tenant: string, limit: number): Promise<number> =>
  countIn(db, tenant, limit, isWaiting);

/** Returns whether the tenant has as many executions at work as its limit allows; costs nothing without a limit. */
export async function isRunningFull(
  db: AnyQuery,
  tenant: string,
  { running: limit }: Readonly<ExecutionQuota>,
): Promise<boolean> {
  return limit !== null && (await countRunning(db, tenant, limit)) >= limit;
}

/**
 * Returns whether a new start has to wait for the quota of its tenant. Waiting executions go first, so they count as at work:
 * otherwise a start that comes just when a place is free would take the place, and they could wait for ever.
 */
export async function mustWaitForQuota(
  db: AnyQuery,
  tenant: string,
  { running: limit }: Readonly<ExecutionQuota>,
): Promise<boolean> {
  return limit !== null && (await countIn(db, tenant, limit, isAtWorkOrQueued)) >= limit;
}

/** Returns the tenants with queued executions that have no room; `limitOf`: limit of a tenant's executions at work, null: none. */
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

/** Counts all executions of the tenant under its quota. */
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
