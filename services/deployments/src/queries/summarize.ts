import type { FilterRule, ListPage, ListQuery, Principal } from '@baton/contracts';
import {
  type AnyQuery,
  countedSummary,
  filterConditions,
  type SummaryKind,
  summarizeBy,
} from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { deploymentColumns, deploymentFilterExpressions } from '../store/deployment-columns.sql';
import { deploymentScope } from '../store/deployments.sql';
import { deploymentRuleTarget } from './list-deployments';
import { instanceColumns, instanceFilters, instanceScope } from './list-node-instances';
import { nodeColumns, nodeFilters } from './list-nodes';

/** The source of GET /summary/{kind}. */
export interface DeploymentSummary extends Omit<SummaryKind, 'where'> {
  /** Rows that the caller may see; by default those of the deployment `d`. */
  scope?: (principal: Principal, allTenants?: boolean) => RawBuilder<SqlBool>;
}

export const summarySources = {
  deployments: {
    from: sql`deployments d`,
    columns: deploymentColumns,
    filters: deploymentFilterExpressions,
    search: sql`d.id`,
    searchName: sql`d.display_name`,
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
    search: sql`n.id`,
  },
  node_instances: {
    from: sql`node_instances ni`,
    columns: { ...instanceColumns, node_name: sql`ni.node_id` },
    scope: instanceScope,
    filters: instanceFilters,
    search: sql`ni.id`,
    shared: {
      key: sql`ni.deployment_key`,
      lookup: sql`left join deployments d on d.key = keyed.key`,
      columns: { deployment_id: sql`d.id` },
    },
  },
};

/**
 * Counts by the target field, and within each by the sub field; one statement. `rules` narrow a summary of deployments.
 * @throws AppError bad_parameters_error
 */
export async function summarize(
  db: AnyQuery,
  principal: Principal,
  kind: DeploymentSummary,
  list: ListQuery,
  query: { _target_field?: string; _sub_field?: string },
  rules: readonly FilterRule[],
): Promise<ListPage<Record<string, unknown>>> {
  const { _target_field: target, _sub_field: sub } = query;
  if (target !== undefined && target !== sub && rules.length === 0) {
    const counted = countedSummary([kind.name], kind, principal, list, [target, sub]);
    if (counted) return await summarizeBy(db, counted, list, query);
  }
  const scope = kind.scope ?? deploymentScope;
  const where = [scope(principal, list.allTenants), ...filterConditions(rules, deploymentRuleTarget)];
  return await summarizeBy(db, { ...kind, where }, list, query);
}
