import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type AnyQuery, selectFields, selectPage } from '@baton/postgres';
import { sql } from 'kysely';
import { filterColumns, filterScope, findFilter } from '../store/filters.sql';

type Item = Record<string, unknown>;

export function listFilters(db: AnyQuery, principal: Principal, list: ListQuery): Promise<ListPage<Item>> {
  return selectPage<Item>({
    db,
    from: sql`deployment_filters f`,
    columns: filterColumns,
    list,
    where: [filterScope(principal, list.allTenants)],
    tieBreak: sql`f.created_at, f.tenant, f.id`,
    search: sql`f.id`,
  });
}

/** Returns a filter; a filter of the own tenant comes before a global one. @throws AppError not_found_error */
export async function readFilter(db: AnyQuery, principal: Principal, id: string): Promise<Item> {
  const fields = selectFields(filterColumns);
  const { rows } = await sql<Item>`
    select ${fields} from deployment_filters f where f.id = ${id} and ${filterScope(principal)}
    order by f.tenant = ${principal.tenant} desc limit 1`.execute(db);
  if (!rows[0]) throw notFound('DeploymentsFilter', id);
  return rows[0];
}

/** Returns the rules of the stored filter that a request names; null when it names none. @throws AppError not_found_error */
export async function storedRules(
  db: AnyQuery,
  principal: Principal,
  filterId: string | null | undefined,
): Promise<FilterRule[] | null> {
  if (filterId === null || filterId === undefined) return null;
  const filter = await findFilter(db, principal, filterId);
  if (!filter) throw notFound('DeploymentsFilter', filterId);
  return filter.value;
}
