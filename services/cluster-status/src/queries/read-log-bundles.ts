import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type Db, selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { type LogBundleRow, logBundleColumns } from '../store/log-bundles.sql';
import type { DB } from '../store/tables.gen';

/** Log bundles are always private (reference/rest-api.md 4.4). */
const VISIBILITY = sql`'private'::text`;

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`b.id`,
  status: sql`b.status`,
  error: sql`b.error`,
  created_at: sql`b.created_at`,
  created_by: sql`b.created_by`,
  tenant_name: sql`b.tenant`,
  visibility: VISIBILITY,
  private_resource: sql`true`,
  resource_availability: VISIBILITY,
};

const scopeOf = (principal: Principal, allTenants: boolean) =>
  visibilityScope(
    principal,
    { tenant: sql`b.tenant`, visibility: VISIBILITY, creator: sql`b.created_by` },
    allTenants,
  );

export function listLogBundles(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<Record<string, unknown>>> {
  return selectPage<Record<string, unknown>>({
    db,
    from: sql`log_bundles b`,
    columns,
    list,
    where: [scopeOf(principal, list.allTenants)],
    tieBreak: sql`b.created_at, b.id`,
    search: sql`b.id`,
  });
}

/** @throws AppError not_found_error for one that the caller does not see. */
export async function visibleLogBundle(
  db: Db<DB>['query'],
  principal: Principal,
  id: string,
): Promise<LogBundleRow> {
  const { rows } = await sql<LogBundleRow>`
    select ${logBundleColumns} from log_bundles b
    where b.tenant = ${principal.tenant} and b.id = ${id} and ${scopeOf(principal, false)}`.execute(db);
  if (!rows[0]) throw notFound('LogBundle', id);
  return rows[0];
}

export function presentLogBundle(row: LogBundleRow): Record<string, unknown> {
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
