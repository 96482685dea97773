import type { Principal } from '@baton/contracts';
import { type RawBuilder, sql } from 'kysely';
import { visibilityScope } from './visibility-scope';

/**
 * How many rows of a service's `kinds` the caller may see, without counting them: the sum of counters in its table
 * `row_counts`, which triggers keep in the transactions of the rows (services/deployments/migrations/0010_api_speed.sql,
 * services/executions/migrations/0050_list_totals.sql).
 */
export function visibleTotal(
  kinds: readonly string[],
  principal: Principal,
  allTenants = false,
): RawBuilder<number> {
  const scope = visibilityScope(
    principal,
    { tenant: sql`c.tenant`, visibility: sql`c.visibility`, creator: sql`c.creator` },
    allTenants,
  );
  const isKind = sql`c.kind in (${sql.join(kinds.map((kind) => sql.lit(kind)))})`;
  return sql<number>`(select coalesce(sum(c.total), 0)::bigint from row_counts c where ${isKind} and ${scope})`;
}
