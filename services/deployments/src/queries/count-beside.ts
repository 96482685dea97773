import type { FilterRule, ListQuery, Principal } from '@baton/contracts';
import { type AnyQuery, visibleTotal } from '@baton/postgres';
import { sql } from 'kysely';

/** Returns `metadata.filtered` of a search: the number of objects of the kind that were not found; null without rules. */
export async function countBeside(
  db: AnyQuery,
  kind: 'nodes' | 'node_instances',
  principal: Principal,
  list: ListQuery,
  rules: readonly FilterRule[] | null,
  found: number,
): Promise<number | null> {
  if (rules === null || rules.length === 0) return null;
  const total = visibleTotal([kind], principal, list.allTenants);
  const { rows } = await sql<{ n: number }>`select ${total} as n`.execute(db);
  return rows[0]!.n - found;
}
