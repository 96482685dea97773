import { hash } from 'node:crypto';
import type { ListPage, ListQuery } from '@baton/contracts';
import { type PageRequest, pageConditions, prepared, type Way } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

/** Columns of events whose values are counted one by one (migrations/0160_event_values.sql). */
export type ValueColumn =
  | 'blueprint_id'
  | 'deployment_display_name'
  | 'execution_group_id'
  | 'logger'
  | 'node_instance_id'
  | 'worker'
  | 'workflow_id';
/** A table of counts, or a column with counts of its values alone. */
export type EventCounts = 'event_counts' | 'event_messages' | 'event_nodes' | { column: ValueColumn };

/** Returns the FROM item of the counts; the statement sets the alias. */
const countsOf = (counts: EventCounts): RawBuilder<unknown> =>
  typeof counts === 'string'
    ? sql.ref(counts)
    : sql`(select e.from_at, e.tenant_name, e.visibility, e.creator, e.value as ${sql.id(counts.column)}, e.total
        from event_values e where e.field = ${sql.lit(counts.column)})`;

/**
 * A list of events by one time, with filters on columns that the counts have too. Its conditions use columns of the alias `v`
 * that events and counts both have.
 */
export interface ChunkedRequest extends PageRequest {
  /** The counts to use: `event_counts`, or another set of counts, which some chunks lack. */
  counts: EventCounts;
  /** Conditions for the events, and for the counts, that the caller may see. */
  scope: { events: RawBuilder<SqlBool>; counts: RawBuilder<SqlBool> };
  /** ISO instants of `timestamp`, the second one excluded; infinity for an end that the list does not limit. */
  range: { from: string; to: string };
}

/**
 * Returns one page of events by timestamp or reported_timestamp and the exact total, in one statement, without reading the events
 * before the page. Whole chunks are skipped by their counts (events/store/event-chunks.sql.ts). Events without valid counts are
 * counted here: those of the last minutes, and those of chunks that were reopened, have too many texts or cross an end of the
 * range.
 */
export async function pageByChunks(request: ChunkedRequest): Promise<ListPage<Record<string, unknown>>> {
  const { scope, list } = request;
  const filters = pageConditions(request);
  const isIn = sql<SqlBool>`${scope.events} and ${filters}`;
  const isByReported = list.sort[0]!.field === 'reported_timestamp';
  const pieces = piecesOf(request, filters, isIn, isByReported);
  const page = isByReported ? reportedPage(list, isIn) : timelinePage(list, isIn);
  return await answerOf(
    request,
    sql`${pieces}, ${page}`,
    sql`select sum(p.n) from pieces p`,
    list.include === null && request.counts === 'event_counts',
  );
}

/** Returns an expression for the total alone; for pages that are found in another way. */
export function totalByChunks(request: ChunkedRequest): RawBuilder<unknown> {
  const filters = pageConditions(request);
  const isIn = sql<SqlBool>`${request.scope.events} and ${filters}`;
  return sql`(with ${piecesOf(request, filters, isIn, false)} select coalesce(sum(p.n), 0)::bigint from pieces p)`;
}

/**
 * FROM with events `v` among which a page by timestamp lies that begins behind a cursor: of the pieces from there on as many as
 * surely have its rows, and of each no more rows than the page has. How many rows of the first piece lie behind the cursor
 * is not known.
 */
export function nearEvents(
  request: ChunkedRequest,
  { after, isBehind, order, size }: Way,
): RawBuilder<unknown> {
  const filters = pageConditions(request);
  const isIn = sql<SqlBool>`${request.scope.events} and ${filters}`;
  const isDescending = request.list.sort[0]!.descending;
  const at = sql`${after?.[0] ?? null}::timestamptz`;
  const hasRows = isDescending ? sql<SqlBool>`p.from_at <= ${at}` : sql<SqlBool>`p.to_at > ${at}`;
  return sql`(with ${piecesOf(request, filters, isIn, false)}, numbered as (
      select p.*, row_number() over way as place, sum(p.n) over way - p.n as before, first_value(p.n) over way as first_n
      from pieces p where ${after === null ? sql`true` : hasRows}
      window way as (order by p.from_at ${isDescending ? sql`desc` : sql`asc`})
    )
    select r.* from numbered c cross join lateral (
      select v.* from events v where v.created_at >= c.from_at and v.created_at < c.to_at and ${isIn} and ${isBehind}
      order by ${order} limit ${size}
    ) r where c.place = 1 or c.before - c.first_n < ${size}) v`;
}

/**
 * A page by reading all events (of a range) once, for filters that are not counted and that no index helps. A trigram index
 * would not: under row-level security only operators that are leakproof may use one (ADR 0015), and LIKE is none.
 */
export async function pageByScan(request: PageRequest): Promise<ListPage<Record<string, unknown>>> {
  const { list } = request;
  const hits = sql`hits as materialized (
      select v.created_at, v.storage_id, v.reported_at from events v where ${pageConditions(request)}
    ), page as materialized (
      select v.created_at, v.storage_id from hits v order by ${orderOf(list)} limit ${list.size} offset ${list.offset}
    )`;
  return await answerOf(request, hits, sql`select count(*) from hits`, false);
}

/** Returns the order of rows `v`. Rows with equal times are ordered by storage id, newest first only in a list by timestamp. */
function orderOf(list: ListQuery): RawBuilder<unknown> {
  const { field, descending } = list.sort[0]!;
  const direction = descending ? sql`desc` : sql`asc`;
  return field === 'reported_timestamp'
    ? sql`v.reported_at ${direction}, v.created_at, v.storage_id`
    : sql`v.created_at ${direction}, v.storage_id ${direction}`;
}

const ALWAYS = { from: '-infinity', to: 'infinity' };

/** Returns the parts `known` and `live` of a statement: `live` has the time ranges that `counts` do not cover. */
export function liveStretches(counts: EventCounts, range = ALWAYS): RawBuilder<unknown> {
  const isUnknown =
    counts === 'event_counts'
      ? sql`false`
      : sql`not exists (select from ${countsOf(counts)} m where m.from_at = k.from_at)`;
  return sql`known as (
      select min(k.from_at) as first_at, max(k.to_at) as last_at from event_chunks k
    ), live as (
      select greatest(l.from_at, ${range.from}::timestamptz) as from_at, least(l.to_at, ${range.to}::timestamptz) as to_at from (
        select '-infinity'::timestamptz as from_at, coalesce(first_at, 'infinity') as to_at from known
        union all select last_at, 'infinity' from known where last_at is not null
        union all select k.from_at, k.to_at from event_chunks k where k.from_at in (select r.from_at from event_chunks_reopened r)
          or k.from_at < ${range.from}::timestamptz or k.to_at > ${range.to}::timestamptz or ${isUnknown}
      ) l
    )`;
}

/** Returns the condition that the counts of chunk `k` are valid for the whole chunk within the range. */
const isClosed = (range: ChunkedRequest['range']): RawBuilder<SqlBool> =>
  sql<SqlBool>`k.from_at not in (select r.from_at from event_chunks_reopened r)
        and k.from_at >= ${range.from}::timestamptz and k.to_at <= ${range.to}::timestamptz`;

/** Events with one value of a field; `first` is the position of the first of them in the list sorted by the field. */
export interface EventGroup {
  value: string | null;
  first: number;
}

/** Pages that end within this many events read values from the front of their index, instead of counting all values. */
const NEAR_EVENTS = 1_000;

/**
 * Returns the total of the list, and the values of `column` (which counts and events both have) whose events lie on the page, in
 * their order; at most `most` values.
 */
export async function eventGroups(
  request: ChunkedRequest,
  column: RawBuilder<unknown>,
  most: number,
): Promise<{ total: number; groups: EventGroup[] }> {
  const { scope, range, counts, list } = request;
  const filters = pageConditions(request);
  const direction = list.sort[0]!.descending ? sql`desc` : sql`asc`;
  const end = list.offset + list.size;
  // `end` values have at least `end` events, so the events of later values lie after the page.
  const isNear = typeof counts !== 'string' && end <= NEAR_EVENTS;
  const kept = isNear
    ? sql`(select ${column} as value, sum(v.total) as n from ${countsOf(counts)} v where ${scope.counts} and ${filters}
        and (v.from_at in (select k.from_at from event_chunks k where ${isClosed(range)})) is true
        group by 1 order by 1 ${direction} limit ${end})`
    : sql`select ${column} as value, sum(v.total) as n from event_chunks k join ${countsOf(counts)} v on v.from_at = k.from_at
        where ${scope.counts} and ${filters} and ${isClosed(range)} group by 1`;
  const total = isNear
    ? totalByChunks({ ...request, counts: 'event_counts' })
    : sql`(select coalesce(sum(g.n), 0)::bigint from groups g)`;
  const { rows } = await sql<{ total: number; value: string | null; first: number | null }>`
    with ${liveStretches(counts, range)}, counted as (
      ${kept}
      union all
      select ${column}, count(*) from live l cross join lateral (
        select * from events v where v.created_at >= l.from_at and v.created_at < l.to_at and ${scope.events} and ${filters} offset 0) v
      where l.from_at < l.to_at group by 1
    ), groups as materialized (select value, sum(n)::bigint as n from counted group by 1),
    placed as (select g.*, (sum(g.n) over (order by g.value ${direction}))::bigint - g.n as first from groups g)
    select t.total, p.value, p.first from (select ${total} as total) t left join placed p
      on p.first < ${end}::bigint and p.first + p.n > ${list.offset}::bigint
    order by p.first limit ${most}`.execute(request.db);
  const groups = rows.flatMap(({ value, first }) => (first === null ? [] : [{ value, first }]));
  return { total: rows[0]!.total, groups };
}

/**
 * Returns the pieces of the list: counted chunks (event_counts), and time ranges that are counted now. With `hasReported`, each
 * piece has the first and the last time at which its events were reported.
 */
function piecesOf(
  { scope, range, counts: table }: ChunkedRequest,
  filters: RawBuilder<SqlBool>,
  isIn: RawBuilder<SqlBool>,
  hasReported: boolean,
): RawBuilder<unknown> {
  const [kept, found, both] = hasReported
    ? [
        sql`, k.reported_from, k.reported_to`,
        sql`, min(v.reported_at) as reported_from, max(v.reported_at) as reported_to`,
        sql`, v.reported_from, v.reported_to`,
      ]
    : [sql``, sql``, sql``];
  const counts = countsOf(table);
  return sql`${liveStretches(table, range)}, pieces as materialized (
      select k.from_at, k.to_at, v.n ${kept} from event_chunks k join (
          select v.from_at, sum(v.total)::bigint as n from ${counts} v where ${scope.counts} and ${filters}
            and v.from_at >= ${range.from}::timestamptz and v.from_at < ${range.to}::timestamptz
          group by v.from_at
        ) v on v.from_at = k.from_at
      where ${isClosed(range)}
      union all
      select l.from_at, l.to_at, v.n ${both} from live l cross join lateral (
        select count(*) as n ${found} from events v where v.created_at >= l.from_at and v.created_at < l.to_at and ${isIn}) v
      where l.from_at < l.to_at and v.n > 0
    )`;
}

/** Returns the keys of a page by timestamp: for each piece its rows of the page, read from the nearer end of the piece. */
function timelinePage(list: ListQuery, isIn: RawBuilder<SqlBool>): RawBuilder<unknown> {
  // The position of the page, counted from the oldest event.
  const first = list.sort[0]!.descending
    ? sql`c.total - ${list.offset}::bigint - ${list.size}::bigint`
    : sql`${list.offset}::bigint`;
  const last = sql`${first} + ${list.size}::bigint`;
  const walk = (direction: RawBuilder<unknown>) => sql`
          select v.created_at, v.storage_id from events v where v.created_at >= c.from_at and v.created_at < c.to_at and ${isIn}
          order by v.created_at ${direction}, v.storage_id ${direction}`;
  return sql`placed as (
      select p.from_at, p.to_at, p.n, sum(p.n) over (order by p.from_at)::bigint - p.n as before, sum(p.n) over ()::bigint as total
      from pieces p
    ), cut as materialized (
      select c.*, greatest(${first} - c.before, 0) as skip, least(${last} - c.before, c.n) as up_to from placed c
    ), page as materialized (
      select r.created_at, r.storage_id from cut c cross join lateral (
        (${walk(sql`asc`)} limit case when c.skip <= c.n - c.up_to then c.up_to - c.skip else 0 end offset c.skip)
        union all
        (${walk(sql`desc`)} limit case when c.skip <= c.n - c.up_to then 0 else c.up_to - c.skip end offset c.n - c.up_to)
      ) r where c.skip < c.up_to limit ${list.size}
    )`;
}

/**
 * Returns the keys of a page by reported_timestamp. The times of pieces overlap. So it computes for each piece how many rows at
 * most precede its last row, and how many at least precede its first row. Pieces whose rows all come before the page are only
 * counted, pieces that come after it are left out, and the few others are read and sorted.
 */
function reportedPage(list: ListQuery, isIn: RawBuilder<SqlBool>): RawBuilder<unknown> {
  const [low, high] = list.sort[0]!.descending
    ? [sql`- extract(epoch from p.reported_to)`, sql`- extract(epoch from p.reported_from)`]
    : [sql`extract(epoch from p.reported_from)`, sql`extract(epoch from p.reported_to)`];
  return sql`edges as (
      select p.from_at, p.to_at, p.n, e.turn, sum(case e.turn when 0 then p.n else 0 end) over way as begun,
        sum(case e.turn when 1 then p.n else 0 end) over way as ended
      from pieces p cross join lateral (values (${low}, 0), (${high}, 1)) e (at, turn)
      window way as (order by e.at, e.turn)
    ), judged as materialized (
      select e.from_at, e.to_at, e.n, max(e.begun) filter (where e.turn = 1) as most, max(e.ended) filter (where e.turn = 0) as least
      from edges e group by 1, 2, 3
    ), page as materialized (
      select v.created_at, v.storage_id from judged j cross join lateral (
        select v.created_at, v.storage_id, v.reported_at from events v
        where v.created_at >= j.from_at and v.created_at < j.to_at and ${isIn}) v
      where j.most > ${list.offset}::bigint and j.least < ${list.offset}::bigint + ${list.size}::bigint
      order by ${orderOf(list)} limit ${list.size}
      offset ${list.offset}::bigint - (select coalesce(sum(j.n), 0) from judged j where j.most <= ${list.offset}::bigint)
    )`;
}

type Found = Record<string, unknown> & { total_: number; is_found_: boolean | null };

/**
 * Runs the statement whose part `page` has the keys of the rows; returns the total also when the page is empty. With
 * `isOneOfFew`, the statement text is one of a few and is planned once a connection, which saves time with a year of partitions.
 */
async function answerOf(
  request: PageRequest,
  parts: RawBuilder<unknown>,
  total: RawBuilder<unknown>,
  isOneOfFew: boolean,
): Promise<ListPage<Record<string, unknown>>> {
  const { columns, list } = request;
  const names = (list.include ?? Object.keys(columns)).filter((name) => columns[name]);
  const fields = names.map((name) => sql`, ${columns[name]} as ${sql.id(name)}`);
  // LIMIT 1 makes the planner fetch rows by their keys, whatever size it expects for the page.
  const query = sql<Found>`with ${parts}
    select t.total::bigint as total_, q.* from (select coalesce((${total}), 0) as total) t left join (
      select true as is_found_, row_number() over (order by ${orderOf(list)}) as place_ ${sql.join(fields, sql``)}
      from page cross join lateral (
        select * from events e where e.created_at = page.created_at and e.storage_id = page.storage_id limit 1) v
    ) q on true
    order by q.place_`;
  const { sql: text, parameters } = query.compile(request.db);
  const rows = isOneOfFew
    ? await prepared<Found>(request.db, { name: `events-${hash('sha1', text)}`, text }, parameters)
    : (await query.execute(request.db)).rows;
  const items = rows.filter((row) => row.is_found_).map(({ total_, is_found_, place_, ...row }) => row);
  return { items, total: rows[0]!.total_ };
}
