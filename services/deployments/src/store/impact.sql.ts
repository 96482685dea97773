import type { Principal } from '@baton/contracts';
import { type AnyQuery, visibilityScope } from '@baton/postgres';
import { sql } from 'kysely';
import { isLive } from './node-instances.sql';

export interface ImpactCounts {
  /** Node instances that are neither uninitialized nor deleted. */
  live: number;
  /** Ids of the deployment groups that the caller sees, at most a thousand. */
  groups: string[];
}

/** Returns the number of live node instances of the deployments with these keys, and the groups that contain them. */
export async function readImpactCounts(
  db: AnyQuery,
  principal: Principal,
  keys: readonly number[],
): Promise<ImpactCounts> {
  const { rows } = await sql<ImpactCounts>`
    select (select count(*) from node_instances ni where ni.deployment_key = any(${[...keys]}::bigint[])
        and ${isLive('ni')}) as live,
      array(select distinct g.id from deployment_group_members m join deployment_groups g on g.key = m.group_key
        where m.deployment_key = any(${[...keys]}::bigint[]) and ${visibilityScope(principal, 'g')}
        order by g.id limit 1000) as groups`.execute(db);
  return rows[0]!;
}
