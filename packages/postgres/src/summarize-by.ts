/** Counts of a resource by one or two fields: GET /summary/{kind} (reference/rest-api.md 5.27, 8.9). */
import type { ListPage, ListQuery } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { pageConditions } from './select-page';
import type { AnyQuery } from './transaction-scope';

export interface SummaryKind {
  /** Key of the count: deployments, nodes, executions. */
  name: string;
  /** Fields that `_target_field` and `_sub_field` may name; keys of `columns`. */
  fields: readonly string[];
  from: RawBuilder<unknown>;
  columns: Record<string, RawBuilder<unknown>>;
  filters?: Record<string, RawBuilder<unknown> | ((values: string[]) => RawBuilder<SqlBool>)>;
  /** Conditions besides the caller's filters: tenant scope. */
  where: readonly RawBuilder<SqlBool>[];
  /** Columns of `_search` and `_search_name`, as in the list that is counted; absent: ignored. */
  search?: RawBuilder<unknown>;
  searchName?: RawBuilder<unknown>;
  /** How many resources a row of `from` stands for; default one. */
  weight?: RawBuilder<unknown>;
  /** Fields that many rows share: rows are counted by `key` first, and `lookup` is joined once per `keyed.key`. */
  shared?: SharedFields;
  /** Order of the values of fields that have their own order; values of other fields are sorted by value. */
  ranks?: Readonly<Record<string, readonly string[]>>;
}

/** From the narrowest to the widest (reference/rest-api.md 4.4). */
const VISIBILITIES = ['private', 'tenant', 'global'];

/** Sort expression of `column`, which holds the field `name`: an enumeration is sorted in its own order, as in the original. */
function orderOf(
  kind: SummaryKind,
  name: string | undefined,
  column: RawBuilder<unknown>,
): RawBuilder<unknown> {
  const ranks = name === 'visibility' ? VISIBILITIES : kind.ranks?.[name ?? ''];
  return ranks ? sql`array_position(${[...ranks]}::text[], ${column}::text), ${column}` : column;
}

export interface SharedFields {
  key: RawBuilder<unknown>;
  lookup: RawBuilder<unknown>;
  columns: Readonly<Record<string, RawBuilder<unknown>>>;
}

function fieldOf(kind: SummaryKind, parameter: string, name: string | undefined): RawBuilder<unknown> | null {
  if (name === undefined) return null;
  if (kind.fields.includes(name)) return kind.columns[name]!;
  throw new AppError(
    'bad_parameters_error',
    `Field \`${name}\` is not valid for ${parameter}. Valid fields: ${kind.fields.join(', ')}`,
    {
      field: parameter,
      expected: kind.fields,
    },
  );
}

/** Counts by the target field, and within each value by the sub field, in one statement. @throws AppError bad_parameters_error */
export async function summarizeBy(
  db: AnyQuery,
  kind: SummaryKind,
  list: ListQuery,
  query: { _target_field?: string; _sub_field?: string },
): Promise<ListPage<Record<string, unknown>>> {
  const target = fieldOf(kind, '_target_field', query._target_field);
  if (!target)
    throw new AppError('bad_parameters_error', '_target_field is missing', {
      field: '_target_field',
      expected: kind.fields,
    });
  const sub = fieldOf(kind, '_sub_field', query._sub_field);
  const where = pageConditions({
    columns: kind.columns,
    list,
    filters: kind.filters,
    where: kind.where,
    search: kind.search,
    searchName: kind.searchName,
  });
  const counted = countedBy(kind, where, { target: query._target_field!, sub: query._sub_field });
  const page = list.getAll ? sql`` : sql`limit ${list.size} offset ${list.offset}`;
  const { rows } = await sql<{
    target: unknown;
    count: number;
    subs: { value: unknown; count: number }[] | null;
    total: number;
  }>`
    with counted as (${counted}), grouped as (${sub ? bySub(orderOf(kind, query._sub_field, sql`sub`)) : sql`select target, count, null::json as subs from counted`})
    select *, (select count(*) from grouped) as total from grouped order by ${orderOf(kind, query._target_field, sql`target`)} nulls last ${page}`.execute(
    db,
  );
  const name = query._target_field!;
  const items = rows.map((row) => ({
    [name]: row.target,
    [kind.name]: row.count,
    ...(sub === null
      ? {}
      : {
          [`by ${query._sub_field}`]: (row.subs ?? []).map((s) => ({
            [query._sub_field!]: s.value,
            [kind.name]: s.count,
          })),
        }),
  }));
  return { items, total: rows[0]?.total ?? 0 };
}

const bySub = (order: RawBuilder<unknown>) => sql`select target, sum(count)::int as count,
  json_agg(json_build_object('value', sub, 'count', count) order by ${order}) as subs from counted group by target`;

/** Query of the rows `target`, `sub` and `count`. */
function countedBy(
  { columns, from, shared, weight }: SummaryKind,
  where: RawBuilder<SqlBool>,
  { target, sub }: { target: string; sub: string | undefined },
): RawBuilder<unknown> {
  const none = sql`null::text`;
  const own = (name: string | undefined) => (name === undefined ? none : columns[name]!);
  const isShared = (name: string | undefined): boolean =>
    name !== undefined && name in (shared?.columns ?? {});
  if (!shared || (!isShared(target) && !isShared(sub))) {
    const counted = weight ? sql`sum(${weight})::int` : sql`count(*)::int`;
    const some = weight ? sql`having sum(${weight}) > 0` : sql``;
    return sql`select ${own(target)} as target, ${own(sub)} as sub, ${counted} as count from ${from} where ${where} group by 1, 2 ${some}`;
  }
  const kept = (name: string | undefined) => (isShared(name) ? none : own(name));
  const shown = (name: string | undefined, as: string) =>
    isShared(name) ? shared.columns[name!]! : sql.ref(`keyed.${as}`);
  return sql`select ${shown(target, 'target')} as target, ${shown(sub, 'sub')} as sub, sum(keyed.count)::int as count
    from (
      select ${shared.key} as key, ${kept(target)} as target, ${kept(sub)} as sub, count(*) as count from ${from} where ${where} group by 1, 2, 3
    ) keyed ${shared.lookup} group by 1, 2`;
}
