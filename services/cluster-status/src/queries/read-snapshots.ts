import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type Db, selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { SnapshotRow } from '../store/snapshots.sql';
import type { DB } from '../store/tables.gen';

/** Snapshots are always private (reference/rest-api.md 4.4). */
const VISIBILITY = sql`'private'::text`;

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`s.id`,
  status: sql`s.status`,
  error: sql`s.error`,
  created_at: sql`s.created_at`,
  created_by: sql`s.created_by`,
  tenant_name: sql`s.tenant`,
  visibility: VISIBILITY,
  private_resource: sql`true`,
  resource_availability: VISIBILITY,
};

export type ShownSnapshot = Record<string, unknown>;

export function listSnapshots(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<ShownSnapshot>> {
  return selectPage<ShownSnapshot>({
    db,
    from: sql`snapshots s`,
    columns,
    list,
    where: [scopeOf(principal, list.allTenants)],
    tieBreak: sql`s.created_at, s.id`,
    search: sql`s.id`,
  });
}

function scopeOf(principal: Principal, allTenants: boolean) {
  return visibilityScope(
    principal,
    { tenant: sql`s.tenant`, visibility: VISIBILITY, creator: sql`s.created_by` },
    allTenants,
  );
}

/** @throws AppError not_found_error for one that the caller does not see. */
export async function visibleSnapshot(
  db: Db<DB>['query'],
  principal: Principal,
  id: string,
): Promise<SnapshotRow> {
  const { rows } = await sql<SnapshotRow>`
    select tenant, id, status, error, created_by, created_at, archive_digest, archive_size from snapshots s
    where s.tenant = ${principal.tenant} and s.id = ${id} and ${scopeOf(principal, false)}`.execute(db);
  if (!rows[0]) throw notFound('Snapshot', id);
  return rows[0];
}

export function presentSnapshot(row: SnapshotRow): ShownSnapshot {
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
