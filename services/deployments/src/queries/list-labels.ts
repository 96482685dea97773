import type { ListPage, ListQuery, Principal } from '@baton/contracts';
import { reservedLabelKeys } from '@baton/contracts';
import { type AnyQuery, containsText, isGlobal } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { deploymentScope } from '../store/deployments.sql';

/** Lists the keys of labels of deployments that the caller may see; with `_reserved` the reserved keys instead. */
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
  return { ...(await distinctTexts(db, principal, list, sql`l.key`, sql<SqlBool>`true`)), isReserved: false };
}

export function listLabelValues(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  key: string,
): Promise<ListPage<string>> {
  return distinctTexts(db, principal, list, sql`l.value`, sql<SqlBool>`l.key = ${key.toLowerCase()}`);
}

/** Up to this number, different texts are found one by one in the index; beyond it all labels are read. */
const MOST_STEPS = 1_000;

interface Found {
  total: number;
  items: string[];
}

/** Lists distinct texts. `column` must be the next column of the index on key and value after those in `where`. */
async function distinctTexts(
  db: AnyQuery,
  principal: Principal,
  list: ListQuery,
  column: RawBuilder<unknown>,
  where: RawBuilder<SqlBool>,
): Promise<ListPage<string>> {
  const tenant = list.allTenants ? sql`true` : sql`(l.tenant = ${principal.tenant} or ${isGlobal('d')})`;
  const from = sql`deployment_labels l join deployments d on d.key = l.deployment_key
      where ${tenant} and ${deploymentScope(principal, list.allTenants)} and ${where}`;
  const isFound = (text: RawBuilder<unknown>) =>
    list.search === null ? sql`true` : containsText(text, list.search);
  const page = sql`(select count(*) from found) as total,
      array(select text from found order by text ${list.getAll ? sql`` : sql`limit ${list.size} offset ${list.offset}`}) as items`;
  // Steps from each text to the next one in the index, however many labels have it.
  const next = (after: RawBuilder<unknown>) =>
    sql`(select ${column} from deployment_labels l where ${where} and ${after} order by ${column} limit 1)`;
  const { rows } = await sql<Found & { steps: number }>`
    with recursive steps (text, n) as (
      select ${next(sql`true`)}, 1
      union all
      select ${next(sql`${column} > s.text`)}, s.n + 1 from steps s where s.text is not null and s.n < ${MOST_STEPS}
    ), found as materialized (
      select s.text from steps s where s.text is not null and ${isFound(sql`s.text`)}
        and exists (select from ${from} and ${column} = s.text)
    )
    select (select max(n) from steps) as steps, ${page}`.execute(db);
  const { steps, ...found } = rows[0]!;
  if (steps < MOST_STEPS) return found;
  const all = await sql<Found>`
    with found as (select distinct ${column} as text from ${from} and ${isFound(column)}) select ${page}`.execute(
    db,
  );
  return all.rows[0]!;
}
