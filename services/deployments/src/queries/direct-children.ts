import type { Principal } from '@baton/contracts';
import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import { deploymentScope } from '../store/deployments.sql';

interface Counts {
  sub_services_count: number;
  sub_environments_count: number;
}

/**
 * Handles `all_sub_deployments=false` (spec v3.1 part 1, reference/rest-api.md 6.4): returns the same deployments with the counts
 * of their direct children only. Items are identified by id and, where it is shown, by tenant; items without an id stay unchanged.
 */
export async function withDirectChildren(
  db: AnyQuery,
  principal: Principal,
  items: Record<string, unknown>[],
): Promise<Record<string, unknown>[]> {
  const ids = items.map((item) => item.id).filter((id) => typeof id === 'string');
  if (ids.length === 0) return items;
  const { rows } = await sql<Counts & { id: string; tenant: string }>`
    select d.id, d.tenant, (count(c.key) filter (where not c.is_environment))::int as sub_services_count,
      (count(c.key) filter (where c.is_environment))::int as sub_environments_count
    from deployments d left join deployment_parents p on p.parent_key = d.key left join deployments c on c.key = p.child_key
    where d.id = any(${ids}) and ${deploymentScope(principal, true)}
    group by d.id, d.tenant`.execute(db);
  return items.map((item) => {
    const tenant = item.tenant_name ?? principal.tenant;
    const same = rows.filter((row) => row.id === item.id);
    const { sub_services_count, sub_environments_count } = same.find((row) => row.tenant === tenant) ??
      same[0] ?? { sub_services_count: 0, sub_environments_count: 0 };
    const counts: Partial<Counts> = {};
    if ('sub_services_count' in item) counts.sub_services_count = sub_services_count;
    if ('sub_environments_count' in item) counts.sub_environments_count = sub_environments_count;
    return { ...item, ...counts };
  });
}
