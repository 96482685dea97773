import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import type { SavedViewAnswer } from '@baton/contracts/http/own-user';
import { notFound } from '@baton/kernel';
import { type Db, selectFields, selectPage } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB as Tables } from '../store/tables.gen';

interface Deps {
  db: Db<Tables>;
}

const from = sql`user_views v join users u on u.id = v.user_id`;

const columns: Record<keyof SavedViewAnswer, RawBuilder<unknown>> = {
  name: sql`v.name`,
  screen: sql`v.screen`,
  query: sql`v.query`,
  is_shared: sql`v.is_shared`,
  created_by: sql`u.username`,
  tenant_name: sql`v.tenant`,
  created_at: sql`v.created_at`,
};

/** Lists the caller's own views of the tenant, and those that other users share there. */
export async function listViews(
  { db }: Deps,
  { userId, tenant }: Principal,
  list: ListQuery,
): Promise<ListPage<SavedViewAnswer>> {
  return selectPage<SavedViewAnswer>({
    db: db.query,
    from,
    columns,
    list,
    where: [sql<SqlBool>`v.tenant = ${tenant}`, sql<SqlBool>`(v.user_id = ${userId} or v.is_shared)`],
    search: sql`v.name`,
    tieBreak: sql`v.name, v.user_id`,
  });
}

/** Returns a view of the caller. @throws AppError not_found_error */
export async function getView(
  { db }: Deps,
  { userId, tenant }: Principal,
  name: string,
): Promise<SavedViewAnswer> {
  const { rows } = await sql<SavedViewAnswer>`select ${selectFields(columns)} from ${from}
    where v.user_id = ${userId} and v.tenant = ${tenant} and v.name = ${name}`.execute(db.query);
  if (!rows[0]) throw notFound('View', name);
  return rows[0];
}
