import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import { type AnyQuery, pageConditions } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { deploymentColumns, deploymentFilterExpressions } from '../store/deployment-columns.sql';
import { deploymentScope } from '../store/deployments.sql';
import { instanceColumns, instanceScope } from './list-node-instances';
import { inDeployments } from './list-nodes';

/** What GET /summary/{kind} counts (reference/rest-api.md 5.27, 8.9). */
export interface SummaryKind {
  /** Key of the count: deployments, nodes, node_instances. */
  name: string;
  fields: readonly string[];
  from: RawBuilder<unknown>;
  columns: Record<string, RawBuilder<unknown>>;
  filters?: Record<string, RawBuilder<unknown> | ((values: string[]) => RawBuilder<SqlBool>)>;
  /** Rows that the caller may see; default by the deployment `d`. */
  scope?: (principal: Principal, allTenants?: boolean) => RawBuilder<SqlBool>;
}

const nodeColumns = {
  id: sql`n.id`,
  node_id: sql`n.id`,
  deployment_id: sql`d.id`,
  deployment_display_name: sql`d.display_name`,
  blueprint_id: sql`d.blueprint_id`,
  type: sql`n.type`,
  host_id: sql`n.host_id`,
  created_by: sql`d.created_by`,
  tenant_name: sql`d.tenant`,
  visibility: sql`d.visibility`,
  number_of_instances: sql`n.number_of_instances`,
  planned_number_of_instances: sql`n.planned_number_of_instances`,
  deploy_number_of_instances: sql`n.deploy_number_of_instances`,
  min_number_of_instances: sql`n.min_number_of_instances`,
  max_number_of_instances: sql`n.max_number_of_instances`,
};

export const summarySources = {
  deployments: { from: sql`deployments d`, columns: deploymentColumns, filters: deploymentFilterExpressions },
  nodes: {
    from: sql`nodes n join deployments d on d.key = n.deployment_key`,
    columns: nodeColumns,
    filters: { deployment_id: inDeployments(sql`n.deployment_key`) },
  },
  node_instances: {
    from: sql`node_instances ni`,
    columns: { ...instanceColumns, node_name: sql`ni.node_id` },
    scope: instanceScope,
    filters: { deployment_id: inDeployments(sql`ni.deployment_key`) },
  },
};

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
export async function summarize(
  db: AnyQuery,
  principal: Principal,
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
    });
  }
  const where = pageConditions({
    columns: kind.columns,
    list,
    filters: kind.filters,
    where: [(kind.scope ?? deploymentScope)(principal, list.allTenants)],
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
