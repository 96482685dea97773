import type { ListQuery, Principal } from '@baton/contracts';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { equalsAny } from './select-page';
import type { SummaryKind } from './summarize-by';
import { visibilityScope } from './visibility-scope';

/**
 * Expression of the number of rows of a service's `kinds` that the caller may see, without counting rows: the sum of counters in
 * the table `row_counts` of the service. Triggers update the counters in the transactions of the rows
 * (services/deployments/migrations/0010_api_speed.sql, services/executions/migrations/0050_list_totals.sql).
 */
export function visibleTotal(
  kinds: readonly string[],
  principal: Principal,
  allTenants = false,
): RawBuilder<number> {
  return totalOf(counted(kinds, principal, allTenants));
}

/** `visibleTotal` for a list that has no filters, or filters only by fields that the counters have; null for other lists. */
export function filteredTotal(
  kinds: readonly string[],
  principal: Principal,
  list: ListQuery,
): RawBuilder<number> | null {
  const filters = Object.entries(list.filters);
  if (isSearched(list) || !filters.every(([field]) => COUNTED_BY[field])) return null;
  const where = [
    counted(kinds, principal, list.allTenants),
    ...filters.map(([field, values]) => equalsAny(COUNTED_BY[field]!, values)),
  ];
  return totalOf(sql.join(where, sql` and `));
}

const totalOf = (where: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`(select coalesce(sum(c.total), 0)::bigint from row_counts c where ${where})`;

/** The counters `c` of the rows that the caller may see. */
function counted(kinds: readonly string[], principal: Principal, allTenants: boolean): RawBuilder<SqlBool> {
  const columns = { tenant: sql`c.tenant`, visibility: sql`c.visibility`, creator: sql`c.creator` };
  const isKind = sql`c.kind in (${sql.join(kinds.map((kind) => sql.lit(kind)))})`;
  return sql<SqlBool>`${isKind} and ${visibilityScope(principal, columns, allTenants)}`;
}

/** Whether the list is searched by text: the counters have no ids and no names. */
const isSearched = ({ search, searchName }: ListQuery): boolean => search !== null || searchName !== null;

/** The columns by which the counters are kept apart. */
const COUNTED_BY: Readonly<Record<string, RawBuilder<unknown>>> = {
  tenant_name: sql`c.tenant`,
  visibility: sql`c.visibility`,
};

/**
 * A summary that reads counters instead of rows, where all its fields and filters are fields of the counters. Null where it needs
 * more.
 */
export function countedSummary(
  kinds: readonly string[],
  { name, fields }: Pick<SummaryKind, 'name' | 'fields'>,
  principal: Principal,
  list: ListQuery,
  targets: readonly (string | undefined)[],
): SummaryKind | null {
  const named = [...targets.filter((field) => field !== undefined), ...Object.keys(list.filters)];
  if (isSearched(list) || !named.every((field) => COUNTED_BY[field] && fields.includes(field))) return null;
  return {
    name,
    fields,
    from: sql`row_counts c`,
    columns: { ...COUNTED_BY },
    where: [counted(kinds, principal, list.allTenants)],
    weight: sql`c.total`,
  };
}
