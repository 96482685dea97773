import type { ListPage } from '@baton/contracts';
import { type AnyQuery, type PageRequest, pageConditions } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Columns that define the order of the events and have an index. */
type Key = readonly string[];

const TIMELINE: Key = ['created_at', 'storage_id'];
const SEQUENCE: Key = ['seq'];

/**
 * Returns one page of events by time, equally fast at any depth: first finds the rows of the page in an index, from the nearer
 * end, then reads only these rows.
 */
export async function pageByTime(request: PageRequest): Promise<ListPage<Record<string, unknown>>> {
  const { db, list } = request;
  // Within one execution, sequence numbers have the order of the times.
  const key = list.filters.execution_id?.length === 1 ? SEQUENCE : TIMELINE;
  const where = pageConditions(request);
  const end = await countUpTo(db, where, key);
  const take = Math.max(0, Math.min(list.size, end.total - list.offset));
  if (take === 0) return { items: [], total: end.total };
  const behind = end.total - list.offset - take;
  const isFromEnd = behind < list.offset;
  const items = await rowsOf(request, {
    where: sql<SqlBool>`${where} and (${columns(key)}) <= (${sql.join(end.last)})`,
    key,
    isDescending: list.sort[0]!.descending,
    isFromEnd,
    skip: isFromEnd ? behind : list.offset,
    take,
  });
  return { items, total: end.total };
}

const columns = (key: Key, direction = sql``): RawBuilder<unknown> =>
  sql.join(key.map((name) => sql`v.${sql.id(name)} ${direction}`));

/** Returns the number of rows and the key of the last one, so that rows stored while the page is read do not move the page. */
async function countUpTo(db: AnyQuery, where: RawBuilder<SqlBool>, key: Key) {
  const { rows } = await sql<{ total: number; last: unknown[] | null }>`
    select (select count(*) from events v where ${where}) as total,
      (select array[${sql.join(key.map((name) => sql`v.${sql.id(name)}::text`))}] from events v where ${where}
        order by ${columns(key, sql`desc`)} limit 1) as last`.execute(db);
  const { total, last } = rows[0]!;
  const types = key.map((name) => sql.raw(name === 'created_at' ? 'timestamptz' : 'bigint'));
  return { total, last: (last ?? []).map((value, i) => sql`${value}::${types[i]!}`) };
}

interface Cut {
  where: RawBuilder<SqlBool>;
  key: Key;
  isDescending: boolean;
  isFromEnd: boolean;
  skip: number;
  take: number;
}

async function rowsOf(request: PageRequest, cut: Cut): Promise<Record<string, unknown>[]> {
  const direction = (isDescending: boolean) => (isDescending ? sql`desc` : sql`asc`);
  const names = (request.list.include ?? Object.keys(request.columns)).filter(
    (name) => request.columns[name],
  );
  const fields = names.map((name) => sql`${request.columns[name]} as ${sql.id(name)}`);
  const chosen = fields.length > 0 ? fields : [sql`1 as one_`];
  // storage_id and created_at identify the row, whatever the order is.
  const { rows } = await sql<Record<string, unknown>>`
    with page as materialized (
      select v.created_at, v.storage_id from events v where ${cut.where}
      order by ${columns(cut.key, direction(cut.isDescending !== cut.isFromEnd))} limit ${cut.take} offset ${cut.skip}
    )
    select ${sql.join(chosen)} from page join events v using (created_at, storage_id)
    order by ${columns(cut.key, direction(cut.isDescending))}`.execute(request.db);
  return rows;
}
