import type { Db, Tx } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type AuditFacts, FIRST_LINK, linkOf } from '../domain/audit-chain';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;
export interface AuditRow extends AuditFacts {
  id: number;
  previous: string;
  chain: string;
}

export interface AuditFilter {
  creatorName?: string;
  executionId?: string;
  since?: string;
  before?: string;
  afterId?: number;
}

/** Advisory lock of the log. Transactions that write the log wait for each other, because each link needs the one before. */
const LOCK = sql`select pg_advisory_xact_lock(hashtext('baton.audit'))`;

/** Appends rows to the chain, in the given order; skips rows whose message id the log has. */
export async function appendAudit(tx: Tx<DB>, facts: readonly AuditFacts[]): Promise<void> {
  await LOCK.execute(tx);
  const { rows: known } = await sql<{ message_id: string }>`
    select message_id from audit_log where message_id = any(${facts.map((row) => row.message_id)}::uuid[])`.execute(
    tx,
  );
  const seen = new Set(known.map((row) => row.message_id));
  const { rows: last } = await sql<{
    chain: string;
  }>`select chain from audit_log order by id desc limit 1`.execute(tx);
  let previous = last[0]?.chain ?? FIRST_LINK;
  const links = facts
    .filter(({ message_id: id }) => !seen.has(id) && seen.add(id))
    .map((row) => {
      const link = { ...row, previous, chain: linkOf(previous, row) };
      previous = link.chain;
      return link;
    });
  if (links.length === 0) return;
  await sql`
    insert into audit_log (message_id, ref_table, ref_id, ref_identifier, operation, creator_name, execution_id,
      request_id, created_at, previous, chain)
    select message_id, ref_table, ref_id, ref_identifier, operation, creator_name, execution_id,
      request_id, created_at, previous, chain
    from rows from (jsonb_to_recordset(${JSON.stringify(links)}::jsonb) as (message_id uuid, ref_table text,
      ref_id text, ref_identifier jsonb, operation text, creator_name text, execution_id text, request_id text,
      created_at timestamptz, previous text, chain text)) with ordinality as link (message_id, ref_table, ref_id,
      ref_identifier, operation, creator_name, execution_id, request_id, created_at, previous, chain, place)
    order by place`.execute(tx);
}

function where({ creatorName, executionId, since, before, afterId }: AuditFilter): RawBuilder<SqlBool> {
  const conditions = [sql<SqlBool>`true`];
  if (creatorName !== undefined) conditions.push(sql`creator_name = ${creatorName}`);
  if (executionId !== undefined) conditions.push(sql`execution_id = ${executionId}`);
  if (since !== undefined) conditions.push(sql`created_at >= ${since}::timestamptz`);
  if (before !== undefined) conditions.push(sql`created_at < ${before}::timestamptz`);
  if (afterId !== undefined) conditions.push(sql`id > ${afterId}`);
  return sql`${sql.join(conditions, sql` and `)}`;
}

/** Orders are column names of the contract; rows with equal values are ordered by id. */
export interface AuditPage {
  orders: readonly string[];
  isDescending: boolean;
  offset: number;
  limit: number;
}

export async function readAudit(reader: Reader, filter: AuditFilter, page: AuditPage): Promise<AuditRow[]> {
  const direction = sql.raw(page.isDescending ? 'desc' : 'asc');
  const orders = [...page.orders, 'id'].map((name) => sql`${sql.id(name)} ${direction}`);
  const { rows } = await sql<AuditRow>`
    select * from audit_log where ${where(filter)} order by ${sql.join(orders)}
    offset ${page.offset} limit ${page.limit}`.execute(reader);
  return rows;
}

export async function countAudit(reader: Reader, filter: AuditFilter): Promise<number> {
  const { rows } = await sql<{
    n: number;
  }>`select count(*)::int as n from audit_log where ${where(filter)}`.execute(reader);
  return rows[0]!.n;
}

export async function lastAuditId(reader: Reader): Promise<number> {
  const { rows } = await sql<{ id: number | null }>`select max(id) as id from audit_log`.execute(reader);
  return rows[0]?.id ?? 0;
}

/**
 * Deletes the rows that pass the filter; returns their number. A filter by creator or execution deletes rows from the middle, and
 * the chain shows the gap.
 */
export async function truncateAudit(tx: Tx<DB>, filter: AuditFilter): Promise<number> {
  await LOCK.execute(tx);
  const { rows } = await sql`delete from audit_log where ${where(filter)} returning id`.execute(tx);
  return rows.length;
}
