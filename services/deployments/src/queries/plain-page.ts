import { isAdministrator, type ListPage, type ListQuery, type Principal } from '@baton/contracts';
import { type Db, prepared, visibleTotal } from '@baton/postgres';
import { sql } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { DeploymentStatements, PageStart } from '../store/deployment-pages.sql';
import type { DB } from '../store/tables.gen';

export interface PlainPageDeps {
  db: Db<DB>;
  deploymentStatements: DeploymentStatements;
  seenTotals: SeenTotals;
}

/** The number of deployments in each caller's list when a page of it was last read. */
export type SeenTotals = LRUCache<string, number>;

const MOST_CALLERS = 10_000;

export function createSeenTotals(): SeenTotals {
  return new LRUCache({ max: MOST_CALLERS });
}

/** Rows before a page are walked from the nearer end of the list; up to this number the end does not matter. */
const NEAR = 1_000;

/**
 * Returns the rows of a page of a tenant's list in its default order, and the size of the whole list. It takes one statement, and
 * another one when the page is empty or is the first one of the caller and far from the beginning.
 */
export async function readPlainPage<Row extends object>(
  deps: PlainPageDeps,
  principal: Principal,
  { size, offset, include }: Pick<ListQuery, 'size' | 'offset' | 'include'>,
  isRecord: boolean,
): Promise<ListPage<Row>> {
  const { tenant, username } = principal;
  const from = await startOf(deps, principal, offset);
  const { statement, values } = deps.deploymentStatements.page(principal, { include, isRecord }, size, from);
  const given = { tenant, username, offset };
  const rows = await prepared<Row & { total_: number }>(deps.db, statement, values(given));
  const total = rows[0]?.total_ ?? (offset === 0 ? 0 : await countVisible(deps.db, principal));
  deps.seenTotals.set(callerOf(principal), total);
  return { items: rows, total };
}

/**
 * Returns the end from which a page is found. An outdated total only makes the read slower, if it is wrong by much, and only once.
 */
async function startOf(
  { db, seenTotals }: PlainPageDeps,
  principal: Principal,
  offset: number,
): Promise<PageStart> {
  if (offset === 0) return 'first';
  if (offset <= NEAR) return 'front';
  const total = seenTotals.get(callerOf(principal)) ?? (await countVisible(db, principal));
  return offset > total / 2 ? 'back' : 'front';
}

/** Counts the deployments that the caller may see in its tenant, or in all tenants. */
export async function countVisible(db: Db<DB>, principal: Principal, allTenants = false): Promise<number> {
  const { rows } = await sql<{
    n: number;
  }>`select ${visibleTotal(['deployments'], principal, allTenants)} as n`.execute(db.query);
  return rows[0]!.n;
}

/** Returns a key of the facts that decide which rows a caller sees; the length separates the two names. */
export const callerOf = (principal: Principal): string => {
  const { tenant, username } = principal;
  return `${isAdministrator(principal)} ${tenant.length} ${tenant} ${username}`;
};
