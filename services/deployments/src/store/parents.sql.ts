import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

/** Returns keys of deployments of the tenant by id. */
export async function keysOfIds(
  db: AnyQuery | AnyTx,
  tenant: string,
  ids: readonly string[],
): Promise<Map<string, number>> {
  if (ids.length === 0) return new Map();
  const { rows } = await sql<{ id: string; key: number }>`
    select id, key from deployments where tenant = ${tenant} and id = any(${[...ids]}::text[])`.execute(db);
  return new Map(rows.map((row) => [row.id, row.key]));
}

export async function parentsOf(db: AnyQuery | AnyTx, key: number): Promise<number[]> {
  const { rows } = await sql<{
    key: number;
  }>`select parent_key as key from deployment_parents where child_key = ${key}`.execute(db);
  return rows.map((row) => row.key);
}

/** Sets the edges from `child` to exactly those to `parents`. */
export async function setParents(tx: AnyTx, child: number, parents: readonly number[]): Promise<void> {
  await sql`delete from deployment_parents where child_key = ${child} and not parent_key = any(${[...parents]}::bigint[])`.execute(
    tx,
  );
  if (parents.length === 0) return;
  await sql`insert into deployment_parents (child_key, parent_key) select ${child}, unnest(${[...parents]}::bigint[]) on conflict do nothing`.execute(
    tx,
  );
}

/**
 * Locks the graph of parents and dependencies of a tenant, so that it is changed by one transaction at a time: two new edges
 * together may close a cycle.
 */
export async function lockGraph(tx: AnyTx, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(7236102, hashtext(${tenant}))`.execute(tx);
}

/** Whether one of `targets` is `from` or a descendant of it: an edge from `from` up to it would close a cycle. */
export async function isAncestorOf(tx: AnyTx, from: number, targets: readonly number[]): Promise<boolean> {
  const { rows } = await sql`
    with recursive below(key) as (
      select ${from}::bigint
      union select p.child_key from deployment_parents p join below b on p.parent_key = b.key
    )
    select 1 as found from below where key = any(${[...targets]}::bigint[]) limit 1`.execute(tx);
  return rows.length > 0;
}
