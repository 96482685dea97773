import type { Principal } from '@baton/contracts';
import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import { deploymentScope } from '../store/deployments.sql';

/** Counts of direct children only, for `all_sub_deployments=false` (reference/rest-api.md 6.4). */
export async function directChildrenCounts(
  db: AnyQuery,
  principal: Principal,
  id: string,
): Promise<{ sub_services_count: number; sub_environments_count: number }> {
  const { rows } = await sql<{ sub_services_count: number; sub_environments_count: number }>`
    select (count(*) filter (where not c.is_environment))::int as sub_services_count, (count(*) filter (where c.is_environment))::int as sub_environments_count
    from deployments d join deployment_parents p on p.parent_key = d.key join deployments c on c.key = p.child_key
    where d.id = ${id} and ${deploymentScope(principal)}`.execute(db);
  return rows[0]!;
}
