import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { type AnyQuery, countedSummary, type SummaryKind, summarizeBy } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { deploymentColumns, deploymentFilterExpressions } from '../store/deployment-columns.sql';
import { deploymentScope } from '../store/deployments.sql';
import { instanceColumns, instanceFilters, instanceScope } from './list-node-instances';
import { nodeColumns, nodeFilters } from './list-nodes';

/** What GET /summary/{kind} counts. */
export interface DeploymentSummary extends Omit<SummaryKind, 'where'> {
  /** Rows that the caller may see; default by the deployment `d`. */
  scope?: (principal: Principal, allTenants?: boolean) => RawBuilder<SqlBool>;
}

export const summarySources = {
  deployments: {
    from: sql`deployments d`,
    columns: deploymentColumns,
    filters: deploymentFilterExpressions,
    shared: {
      key: sql`d.site_key`,
      lookup: sql`left join sites s on s.key = keyed.key`,
      columns: { site_name: sql`s.name` },
    },
  },
  nodes: {
    from: sql`nodes n join deployments d on d.key = n.deployment_key`,
    columns: nodeColumns,
    filters: nodeFilters,
  },
  node_instances: {
    from: sql`node_instances ni`,
    columns: { ...instanceColumns, node_name: sql`ni.node_id` },
    scope: instanceScope,
    filters: instanceFilters,
    shared: {
      key: sql`ni.deployment_key`,
      lookup: sql`left join deployments d on d.key = keyed.key`,
      columns: { deployment_id: sql`d.id` },
    },
  },
};

/** Counts by the target field, and within each by the sub field; one statement. @throws AppError bad_parameters_error */
export async function summarize(
  db: AnyQuery,
  principal: Principal,
  kind: DeploymentSummary,
  list: ListQuery,
  query: { _target_field?: string; _sub_field?: string },
): Promise<ListPage<Record<string, unknown>>> {
  const { _target_field: target, _sub_field: sub } = query;
  if (target !== undefined && target !== sub) {
    const counted = countedSummary([kind.name], kind, principal, list, [target, sub]);
    if (counted) return await summarizeBy(db, counted, list, query);
  }
  const scope = kind.scope ?? deploymentScope;
  return await summarizeBy(db, { ...kind, where: [scope(principal, list.allTenants)] }, list, query);
}
