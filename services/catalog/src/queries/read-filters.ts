import { type FilterRule, type ListPage, type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { notFound } from '@baton/kernel';
import { type Db, isPrivate, selectPage, visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import type { DB } from '../store/tables.gen';

export type FilterRow = Record<string, unknown> & { value?: FilterRule[] };

const columns: Record<string, RawBuilder<unknown>> = {
  id: sql`f.id`,
  value: sql`f.value`,
  labels_filter_rules: sql`null`,
  attrs_filter_rules: sql`null`,
  created_at: sql`f.created_at`,
  updated_at: sql`f.updated_at`,
  created_by: sql`f.created_by`,
  tenant_name: sql`f.tenant`,
  visibility: sql`f.visibility`,
  private_resource: isPrivate('f'),
  resource_availability: sql`f.visibility`,
  is_system_filter: sql`f.is_system_filter`,
};

/** Adds both parts of the rules, label rules and attribute rules, to the row. */
function split(row: FilterRow): FilterRow {
  const value = row.value ?? [];
  return {
    ...row,
    labels_filter_rules: value.filter((r) => r.type === 'label'),
    attrs_filter_rules: value.filter((r) => r.type === 'attribute'),
  };
}

async function page(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
  tieBreak: RawBuilder<unknown>,
): Promise<ListPage<FilterRow>> {
  const scope = visibilityScope(principal, 'f', list.allTenants);
  const found = await selectPage<FilterRow>({
    db,
    from: sql`blueprint_filters f`,
    columns,
    list,
    where: [scope],
    tieBreak,
    search: sql`f.id`,
    always: ['value'],
  });
  return { ...found, items: found.items.map(split) };
}

export function listFilters(
  db: Db<DB>['query'],
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<FilterRow>> {
  return page(db, principal, list, sql`f.created_at, f.tenant, f.id`);
}

/** Returns a filter. @throws AppError not_found_error */
export async function getFilter(db: Db<DB>['query'], principal: Principal, id: string): Promise<FilterRow> {
  const list = listQuery({ filters: { id: [id] }, size: 1 });
  const [row] = (await page(db, principal, list, sql`f.tenant = ${principal.tenant} desc`)).items;
  if (row === undefined) throw notFound('Filter', id);
  return row;
}
