import type { ImportOptions, ListQuery } from '@baton/contracts';
import { appNowPlus, type Db, jsonb, type Tx } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import type { ImportState, TypeCounts, Verdict } from '../domain/import.machine';
import type { ImportService } from '../domain/owners';

type Reader = Db<DB>['query'] | Tx<DB>;

/** What each service must meet when the import is applied. */
export type ApplyPlan = Partial<Record<ImportService, string>>;

export interface ImportRow {
  id: string;
  state: ImportState;
  created_by: string;
  created_at: string;
  updated_at: string;
  archive_digest: string;
  /** False: it was deleted after the import. */
  has_archive: boolean;
  archive_size: number;
  keep_archive: boolean;
  options: ImportOptions;
  sealed: Buffer | null;
  run_id: string;
  plan: ApplyPlan | null;
  format: string | null;
  /** `cloudify 7.1.0`; empty before the archive was looked at. */
  source: string;
  /** Tenants here that got records. */
  tenants: string[];
  step: string;
  error: string;
  counts: TypeCounts[];
  report_digest: string | null;
  verdict: Verdict | null;
  deployments_with_agents: number | null;
  attempts: number;
}

const columns = sql`id, state, created_by, created_at, updated_at, archive_digest, archive_size, has_archive, keep_archive, options, sealed, run_id,
  plan, format, source, tenants, step, error, counts, report_digest, verdict, deployments_with_agents, attempts`;

const WORKED_ON = sql`state in ('waiting', 'checking', 'preparing', 'applying', 'deleting')`;

export async function insertImport(
  tx: Tx<DB>,
  row: Pick<
    ImportRow,
    'id' | 'state' | 'created_by' | 'archive_digest' | 'archive_size' | 'options' | 'run_id'
  >,
): Promise<void> {
  await sql`insert into imports (id, state, created_by, archive_digest, archive_size, options, run_id)
    values (${row.id}, ${row.state}, ${row.created_by}, ${row.archive_digest}, ${row.archive_size}, ${jsonb(row.options)},
      ${row.run_id})`.execute(tx);
}

export async function findImport(db: Reader, id: string): Promise<ImportRow | null> {
  const { rows } = await sql<ImportRow>`select ${columns} from imports where id = ${id}`.execute(db);
  return rows[0] ?? null;
}

/** Locks an import for a change by a request. */
export async function lockImport(tx: Tx<DB>, id: string): Promise<ImportRow | null> {
  const { rows } = await sql<ImportRow>`select ${columns} from imports where id = ${id} for update`.execute(
    tx,
  );
  return rows[0] ?? null;
}

export async function importPage(
  db: Reader,
  { size, offset, sort }: Pick<ListQuery, 'size' | 'offset' | 'sort'>,
): Promise<{ items: ImportRow[]; total: number }> {
  // The only field that the list sorts by is created_at.
  const way = sql.raw(sort[0]?.descending ? 'desc' : 'asc');
  const { rows } = await sql<ImportRow>`select ${columns} from imports where state <> 'deleting'
    order by created_at ${way}, id ${way} limit ${size} offset ${offset}`.execute(db);
  const { rows: counted } = await sql<{
    n: number;
  }>`select count(*) as n from imports where state <> 'deleting'`.execute(db);
  return { items: rows, total: Number(counted[0]!.n) };
}

/** Leases the oldest import that has work and no valid lease. Skips rows that other processes are leasing. */
export async function leaseImport(db: Reader, owner: string, leaseMs: number): Promise<ImportRow | null> {
  const { rows } = await sql<ImportRow>`
    update imports set lease_owner = ${owner}, lease_until = ${appNowPlus(leaseMs)},
      attempts = attempts + case when state in ('checking', 'preparing', 'applying') then 1 else 0 end
    where id = (select id from imports where ${WORKED_ON} and (lease_until is null or lease_until < app_now())
      order by created_at limit 1 for update skip locked)
    returning ${columns}`.execute(db);
  return rows[0] ?? null;
}

/** Extends the lease; false when another process has the import, or a request has changed its state. */
export async function renewImport(
  db: Reader,
  of: { id: string; state: ImportState; owner: string },
  leaseMs: number,
): Promise<boolean> {
  const done = await sql`update imports set lease_until = ${appNowPlus(leaseMs)}
    where id = ${of.id} and lease_owner = ${of.owner} and state = ${of.state}`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Releases the import; it may be leased again after `pauseMs`. */
export async function releaseImport(db: Reader, id: string, owner: string, pauseMs: number): Promise<void> {
  await sql`update imports set lease_owner = null, lease_until = ${appNowPlus(pauseMs)}
    where id = ${id} and lease_owner = ${owner}`.execute(db);
}

export type ImportChanges = Partial<Omit<ImportRow, 'id' | 'created_by' | 'created_at' | 'updated_at'>>;

const JSON_COLUMNS: ReadonlySet<string> = new Set(['options', 'plan', 'counts', 'tenants']);

function setsOf(changes: ImportChanges): RawBuilder<unknown> {
  const sets = Object.entries(changes).map(([column, value]) => {
    const bound = JSON_COLUMNS.has(column) && value !== null ? jsonb(value) : sql`${value}`;
    return sql`${sql.id(column)} = ${bound}`;
  });
  return sql.join([sql`updated_at = app_now()`, ...sets]);
}

/** Moves an import on from the state `from` while `owner` has its lease; false when the state or the owner has changed. */
export async function advanceImport(
  db: Reader,
  of: { id: string; from: ImportState; owner: string },
  changes: ImportChanges,
): Promise<boolean> {
  const done = await sql`update imports set ${setsOf(changes)}
    where id = ${of.id} and state = ${of.from} and lease_owner = ${of.owner}`.execute(db);
  return done.numAffectedRows === 1n;
}

/** Changes an import that the caller has locked. */
export async function changeImport(tx: Tx<DB>, id: string, changes: ImportChanges): Promise<void> {
  await sql`update imports set ${setsOf(changes)} where id = ${id}`.execute(tx);
}

export async function deleteImportRow(tx: Tx<DB>, id: string): Promise<void> {
  await sql`delete from imports where id = ${id} and state = 'deleting'`.execute(tx);
}
