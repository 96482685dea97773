import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { reservedLabelKeys } from '@baton/contracts';
import { type AnyQuery, containsText } from '@baton/postgres';
import { type RawBuilder, sql } from 'kysely';
import { deploymentScope } from '../store/deployments.sql';

/** Keys of the labels in use in deployments that the caller may see; with `_reserved` the reserved ones instead. */
export async function listLabelKeys(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
): Promise<ListPage<string> & { isReserved: boolean }> {
  if (list.extra._reserved?.at(-1)?.toLowerCase() === 'true') {
    const items = reservedLabelKeys
      .filter((key) => list.search === null || key.includes(list.search.toLowerCase()))
      .sort();
    return { items, total: items.length, isReserved: true };
  }
  return { ...(await distinctTexts(db, principal, list, sql`l.key`, sql`true`)), isReserved: false };
}

export function listLabelValues(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  key: string,
): Promise<ListPage<string>> {
  return distinctTexts(db, principal, list, sql`l.value`, sql`l.key = ${key.toLowerCase()}`);
}

async function distinctTexts(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  column: RawBuilder<unknown>,
  where: RawBuilder<unknown>,
): Promise<ListPage<string>> {
  const search = list.search === null ? sql`true` : containsText(column, list.search);
  const tenant = list.allTenants
    ? sql`true`
    : sql`(l.tenant = ${principal.tenant} or d.visibility = 'global')`;
  const { rows } = await sql<{ total: number; items: string[] }>`
    with found as (
      select distinct ${column} as text from deployment_labels l join deployments d on d.key = l.deployment_key
      where ${tenant} and ${deploymentScope(principal, list.allTenants)} and ${where} and ${search}
    )
    select (select count(*) from found) as total,
      array(select text from found order by text ${list.getAll ? sql`` : sql`limit ${list.size} offset ${list.offset}`}) as items`.execute(
    db,
  );
  return rows[0]!;
}
