import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type Db, selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { LogBundleRow } from '../store/log-bundles.sql';
import type { SnapshotRow } from '../store/snapshots.sql';
import type { DB } from '../store/tables.gen';

interface Rows {
  snapshots: SnapshotRow;
  log_bundles: LogBundleRow;
}
const NAMES = { snapshots: 'Snapshot', log_bundles: 'LogBundle' };

/** Visibility of snapshots and log bundles: always private (reference/rest-api.md 4.4). */
const VISIBILITY = sql`'private'::text`;

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`a.id`,
  status: sql`a.status`,
  error: sql`a.error`,
  created_at: sql`a.created_at`,
  created_by: sql`a.created_by`,
  tenant_name: sql`a.tenant`,
  visibility: VISIBILITY,
  private_resource: sql`true::boolean`,
  resource_availability: VISIBILITY,
};

const scopeOf = (principal: Principal, allTenants = false) =>
  visibilityScope(
    principal,
    { tenant: sql`a.tenant`, visibility: VISIBILITY, creator: sql`a.created_by` },
    allTenants,
  );

export function listPrivateArchives(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
  table: keyof Rows,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: sql`${sql.table(table)} a`,
    columns,
    list,
    where: [scopeOf(principal, list.allTenants)],
    tieBreak: sql`a.created_at, a.id`,
    search: sql`a.id`,
  });
}

/** Returns the row with this id. @throws AppError not_found_error when the caller may not see it, or it does not exist. */
export async function visibleArchive<T extends keyof Rows>(
  db: Db<DB>['query'],
  principal: Principal,
  id: string,
  table: T,
): Promise<Rows[T]> {
  const { rows } = await sql<Rows[T]>`
    select a.* from ${sql.table(table)} a
    where a.tenant = ${principal.tenant} and a.id = ${id} and ${scopeOf(principal)}`.execute(db);
  if (!rows[0]) throw notFound(NAMES[table], id);
  return rows[0];
}

/** Returns a row in the form of the answers to a single read, a write and a delete. */
export function presentArchive(
  row: Pick<SnapshotRow, 'tenant' | 'id' | 'error' | 'created_by' | 'created_at'> & { status: string },
): Record<string, unknown> {
  return {
    id: row.id,
    status: row.status,
    error: row.error,
    created_at: row.created_at,
    created_by: row.created_by,
    tenant_name: row.tenant,
    visibility: 'private',
    private_resource: true,
    resource_availability: 'private',
  };
}
