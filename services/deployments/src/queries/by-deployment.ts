import type { ListQuery, Principal } from '@baton/contracts';
import { type RawBuilder, sql } from 'kysely';
import { deploymentScope } from '../store/deployments.sql';

/** Fields that parts of a deployment inherit from it, over `deployments d`. */
export const OF_DEPLOYMENT: Readonly<Record<string, RawBuilder<unknown>>> = {
  deployment_id: sql`d.id`,
  deployment_display_name: sql`d.display_name`,
  blueprint_id: sql`d.blueprint_id`,
  created_by: sql`d.created_by`,
  tenant_name: sql`d.tenant`,
  visibility: sql`d.visibility`,
};

/**
 * Returns the FROM clause for a list of parts of deployments that is sorted only by fields of the deployments: the deployments are
 * sorted, a tenth or less of the rows, and followed until the page is full. It has the deployments `d` in their order; null for
 * other lists. The order must continue with `d.key`.
 */
export function sortedDeployments(
  principal: Principal,
  { sort, allTenants }: ListQuery,
): RawBuilder<unknown> | null {
  if (sort.length === 0 || !sort.every(({ field }) => OF_DEPLOYMENT[field])) return null;
  const order = sort.map(
    ({ field, descending }) => sql`${OF_DEPLOYMENT[field]} ${descending ? sql`desc` : sql`asc`}`,
  );
  return sql`(select d.* from deployments d where ${deploymentScope(principal, allTenants)} order by ${sql.join(order)}, d.key) d`;
}
