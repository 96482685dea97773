/** Counts of a resource by one or two fields: GET /summary/{kind} (reference/rest-api.md 5.27, 8.9). */
import type { ListPage, ListQuery } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { pageConditions } from './select-page';
import type { AnyQuery } from './transaction-scope';

export interface SummaryKind {
  /** Key of the count: deployments, nodes, executions. */
  name: string;
  /** What `_target_field` and `_sub_field` may name; keys of `columns`. */
  fields: readonly string[];
  from: RawBuilder<unknown>;
  columns: Record<string, RawBuilder<unknown>>;
  filters?: Record<string, RawBuilder<unknown> | ((values: string[]) => RawBuilder<SqlBool>)>;
  /** Conditions beside the caller's filters: tenant scope. */
  where: readonly RawBuilder<SqlBool>[];
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

/** Counts by the target field, and within each by the sub field; one statement. @throws AppError bad_parameters_error */
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
  if (query._sub_field !== undefined && query._sub_field === query._target_field) {
    throw new AppError('bad_parameters_error', '_sub_field must differ from _target_field', {
      field: '_sub_field',
      expected: kind.fields.filter((field) => field !== query._target_field),
    });
  }
  const where = pageConditions({
    columns: kind.columns,
    list,
    filters: kind.filters,
    where: kind.where,
  });
  const { rows } = await sql<{
    target: unknown;
    count: number;
    subs: { value: unknown; count: number }[] | null;
    total: number;
  }>`
    with counted as (
      select ${target} as target, ${sub ?? sql`null::text`} as sub, count(*)::int as count from ${kind.from} where ${where} group by 1, 2
    ), grouped as (
      select target, sum(count)::int as count, json_agg(json_build_object('value', sub, 'count', count) order by sub) as subs from counted group by target
    )
    select *, (select count(*) from grouped) as total from grouped
    order by target nulls last ${list.getAll ? sql`` : sql`limit ${list.size} offset ${list.offset}`}`.execute(
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
