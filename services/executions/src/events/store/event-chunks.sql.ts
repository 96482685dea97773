/** Counts of old events, kept in chunks (migrations/0080_event_counts.sql, 0120_event_messages.sql, 0150_event_places.sql, 0160_event_values.sql); read by events/queries/events-by-chunk.ts. */
import { type AnyQuery, privateCreatorText, type Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Broken } from '../../doctor/store/doctor.sql';
import type { DB } from '../../store/tables.gen';

/** Events of a chunk. A page is at most half a chunk away from a position that the counts alone find. */
const CHUNK_ROWS = 20_000;

/** Counts the next chunk, or a reopened one. @returns whether there is more to count at once */
export async function countEvents(db: AnyQuery, chunkRows = CHUNK_ROWS): Promise<boolean> {
  const { rows } = await sql<{ is_more: boolean }>`select count_events(${chunkRows}) as is_more`.execute(db);
  return rows[0]!.is_more;
}

/** Deletes the counts of events before `end` (ISO 8601); these events are deleted in the same transaction. */
export async function forgetChunksBefore(tx: Tx<DB>, end: string): Promise<void> {
  await sql`delete from event_chunks where to_at <= ${end}`.execute(tx);
  await reopenChunk(tx, end);
}

/** Deletes chunks before the first event: they have no events left. */
export async function forgetEmptyChunks(tx: Tx<DB>): Promise<void> {
  await sql`delete from event_chunks c where not exists (select from events v where v.created_at < c.to_at)`.execute(
    tx,
  );
}

/** Deletes places whose events are all gone from the chunks; returns the number of deleted places, at most `limit`. */
export async function forgetPlaces(db: AnyQuery, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from event_places where (kind, value, deployment_id) in (select kind, value, deployment_id from event_places
      where seen_at < (select min(from_at) from event_chunks) order by seen_at limit ${limit})`.execute(db);
  return Number(numAffectedRows ?? 0);
}

/** Has the chunk of `at` (a time as text) counted again. Until then, each query counts its events. */
export async function reopenChunk(tx: Tx<DB>, at: string): Promise<void> {
  await sql`insert into event_chunks_reopened (from_at)
    select from_at from event_chunks where from_at <= ${at}::timestamptz and to_at > ${at}::timestamptz`.execute(
    tx,
  );
}

/** Returns chunks whose counts differ from those of their events: for the doctor. Reads all events. */
export async function wrongChunks(db: AnyQuery, limit: number): Promise<Broken[]> {
  const { rows } = await sql<Broken>`
    with kept as (
      select from_at, tenant_name, visibility, creator, is_log, event_type, level, sum(total) as n from event_counts
      group by 1, 2, 3, 4, 5, 6, 7
    ), real as (
      select c.from_at, v.tenant, v.visibility, ${sql.raw(privateCreatorText({ table: 'v', otherwise: "''" }))}, v.is_log,
        v.event_type, v.level, count(*) as n
      from event_chunks c join events v on v.created_at >= c.from_at and v.created_at < c.to_at group by 1, 2, 3, 4, 5, 6, 7
    ), texts as (
      select from_at, tenant_name, visibility, creator, is_log, event_type, level, sum(total) as n from event_messages
      group by 1, 2, 3, 4, 5, 6, 7
    ), nodes as (
      select from_at, tenant_name, visibility, creator, is_log, event_type, level, sum(total) as n from event_nodes
      group by 1, 2, 3, 4, 5, 6, 7
    ), fields as (
      select from_at, field, tenant_name, visibility, creator, sum(total) as n from event_values group by 1, 2, 3, 4, 5
    ), whole as (
      select from_at, tenant_name, visibility, creator, sum(n) as n from real r (from_at, tenant_name, visibility, creator) group by 1, 2, 3, 4
    ), wrong as (
      (select * from kept except select * from real) union all (select * from real except select * from kept)
      union all (select * from texts except select * from real) union all (select * from nodes except select * from real)
      union all select f.from_at, f.tenant_name, f.visibility, f.creator, null, f.field collate "default", null, f.n from fields f left join whole w using (from_at, tenant_name, visibility, creator)
        where w.n is distinct from f.n
      union all (select * from real r where exists (select from event_messages m where m.from_at = r.from_at) except select * from texts)
    )
    select w.from_at::text as id, 'the counts of events from ' || w.from_at || ' on are wrong' as about
    from wrong w
    where not exists (select from event_chunks_reopened r where r.from_at = w.from_at) group by w.from_at order by w.from_at limit ${limit}`.execute(
    db,
  );
  return rows;
}
