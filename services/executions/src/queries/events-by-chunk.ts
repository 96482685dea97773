import { hash } from 'node:crypto';
import type { ListPage } from '@baton/contracts';
import { type PageRequest, pageConditions, prepared } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/**
 * A list of events by time whose filters tell events apart as `event_counts` does: its conditions are written over columns
 * of the alias `v` that both tables have.
 */
export interface ChunkedRequest extends PageRequest {
  /** The events, and the counts, that the caller may see. */
  scope: { events: RawBuilder<SqlBool>; counts: RawBuilder<SqlBool> };
  /** ISO instants, the second one excluded; infinity where the list has no such end. */
  range: { from: string; to: string };
}

/**
 * One page of events by time and its total, exact and in one statement, without walking over the events before it: whole
 * chunks are skipped by their counts (store/event-chunks.sql.ts), and what is not counted yet is counted here: events of
 * the last minutes, chunks that were reopened or lie across an end of the range.
 */
export async function pageByChunks(request: ChunkedRequest): Promise<ListPage<Record<string, unknown>>> {
  const { list, scope, range } = request;
  const filters = pageConditions(request);
  const isIn = sql<SqlBool>`${scope.events} and ${filters}`;
  const descending = list.sort[0]!.descending;
  const names = (list.include ?? Object.keys(request.columns)).filter((name) => request.columns[name]);
  const fields = names.map((name) => sql`, ${request.columns[name]} as ${sql.id(name)}`);
  const direction = descending ? sql`desc` : sql`asc`;
  // The place of the page, counted from the oldest event.
  const first = descending
    ? sql`c.total - ${list.offset}::bigint - ${list.size}::bigint`
    : sql`${list.offset}::bigint`;
  const last = sql`${first} + ${list.size}::bigint`;
  const query = sql<Found>`
    with known as (
      select min(k.from_at) as first_at, max(k.to_at) as last_at from event_chunks k
    ), live as (
      select greatest(l.from_at, ${range.from}::timestamptz) as from_at, least(l.to_at, ${range.to}::timestamptz) as to_at from (
        select '-infinity'::timestamptz as from_at, coalesce(first_at, 'infinity') as to_at from known
        union all select last_at, 'infinity' from known where last_at is not null
        union all select k.from_at, k.to_at from event_chunks k where k.from_at in (select r.from_at from event_chunks_reopened r)
          or k.from_at < ${range.from}::timestamptz or k.to_at > ${range.to}::timestamptz
      ) l
    ), pieces as materialized (
      select k.from_at, k.to_at, v.n from event_chunks k join (
          select v.from_at, sum(v.total)::bigint as n from event_counts v where ${scope.counts} and ${filters}
            and v.from_at >= ${range.from}::timestamptz and v.from_at < ${range.to}::timestamptz
          group by v.from_at
        ) v on v.from_at = k.from_at
      where k.from_at not in (select r.from_at from event_chunks_reopened r)
        and k.from_at >= ${range.from}::timestamptz and k.to_at <= ${range.to}::timestamptz
      union all
      select l.from_at, l.to_at, v.n from live l cross join lateral (
        select count(*) as n from events v where v.created_at >= l.from_at and v.created_at < l.to_at and ${isIn}) v
      where l.from_at < l.to_at
    ), placed as (
      select p.from_at, p.to_at, p.n, sum(p.n) over (order by p.from_at)::bigint - p.n as before, sum(p.n) over ()::bigint as total
      from pieces p where p.n > 0
    ), cut as materialized (
      select c.*, greatest(${first} - c.before, 0) as skip, least(${last} - c.before, c.n) as up_to from placed c
    ), page as materialized (
      select r.created_at, r.storage_id from cut c cross join lateral (
        (${walk(isIn, sql`asc`)} limit case when c.skip <= c.n - c.up_to then c.up_to - c.skip else 0 end offset c.skip)
        union all
        (${walk(isIn, sql`desc`)} limit case when c.skip <= c.n - c.up_to then 0 else c.up_to - c.skip end offset c.n - c.up_to)
      ) r where c.skip < c.up_to limit ${list.size}
    )
    select t.total as total_, q.* from (select coalesce(sum(p.n), 0)::bigint as total from pieces p) t left join (
      select true as is_found_, v.created_at as created_at_, v.storage_id as storage_id_ ${sql.join(fields, sql``)}
      from page cross join lateral (
        select * from events e where e.created_at = page.created_at and e.storage_id = page.storage_id limit 1) v
    ) q on true
    order by q.created_at_ ${direction}, q.storage_id_ ${direction}`;
  const rows = await rowsOf(request, query);
  const items = rows
    .filter((row) => row.is_found_)
    .map(({ total_, is_found_, created_at_, storage_id_, ...row }) => row);
  return { items, total: rows[0]!.total_ };
}

type Found = Record<string, unknown> & { total_: number; is_found_: boolean | null };

/** With whole events the text is one of few: planned once a connection, which matters with a year of partitions. */
async function rowsOf({ db, list }: PageRequest, query: RawBuilder<Found>): Promise<Found[]> {
  if (list.include !== null) return (await query.execute(db)).rows;
  const { sql: text, parameters } = query.compile(db);
  return await prepared<Found>(db, { name: `events-${hash('sha1', text)}`, text }, parameters);
}

const walk = (isIn: RawBuilder<SqlBool>, direction: RawBuilder<unknown>): RawBuilder<unknown> => sql`
          select v.created_at, v.storage_id from events v
          where v.created_at >= c.from_at and v.created_at < c.to_at and ${isIn}
          order by v.created_at ${direction}, v.storage_id ${direction}`;
