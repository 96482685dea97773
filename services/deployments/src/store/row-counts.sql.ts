import type { Principal } from '@baton/contracts';
import { visibilityScope } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';

/**
 * How many rows of a table the caller may see, without counting them: the sum of counters that triggers keep in the
 * transactions of the rows (migrations/0010_api_speed.sql).
 */
export function visibleTotal(
  kind: 'deployments' | 'node_instances',
  principal: Principal,
  allTenants = false,
): RawBuilder<number> {
  const scope = visibilityScope(
    principal,
    { tenant: sql`c.tenant`, visibility: sql`c.visibility`, creator: sql`c.creator` },
    allTenants,
  );
  return sql<number>`(select coalesce(sum(c.total), 0)::bigint from row_counts c where c.kind = ${sql.lit(kind)} and ${scope})`;
}
