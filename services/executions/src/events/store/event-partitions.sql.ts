import type { AnyQuery, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import type { EventMonth } from '../domain/event-months';
import { forgetChunksBefore } from './event-chunks.sql';

const PARTITIONS = 7_236_012;
/** Limits how long writers of events wait behind a change of partitions; after a timeout the next tick tries again. */
const LOCK_TIMEOUT = '2s';

/** Takes the lock for changes of partitions; false while another replica has it. */
export async function lockPartitions(tx: Tx<DB>): Promise<boolean> {
  await sql`select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)`.execute(tx);
  const { rows } = await sql<{ is_ours: boolean }>`
    select pg_try_advisory_xact_lock(${PARTITIONS}) as is_ours`.execute(tx);
  return rows[0]!.is_ours;
}

export async function readPartitions(db: AnyQuery): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select c.relname as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'events'::regclass order by 1`.execute(db);
  return rows.map((row) => row.name);
}

/** Returns whether the partition events_rest has events of the month: then they stay there. */
export async function hasRestOf(db: AnyQuery, month: EventMonth): Promise<boolean> {
  const { rows } = await sql<{ has: boolean }>`
    select exists (select 1 from events_rest where created_at >= ${month.from} and created_at < ${month.to}) as has`.execute(
    db,
  );
  return rows[0]!.has;
}

/** Creates the partition as a separate table and then attaches it: writers wait only for the attach. */
export async function addPartition(tx: Tx<DB>, { table, from, to }: EventMonth): Promise<void> {
  const name = sql.id(table);
  await sql`create table ${name} (like events including defaults including constraints)`.execute(tx);
  await sql`alter table events attach partition ${name} for values from (${sql.lit(from)}) to (${sql.lit(to)})`.execute(
    tx,
  );
}

/** Drops the partition of a month, with its counts. */
export async function dropPartition(tx: Tx<DB>, { table, to }: EventMonth): Promise<void> {
  await sql`drop table ${sql.id(table)}`.execute(tx);
  await forgetChunksBefore(tx, to);
}

/** Deletes old events of events_rest. @returns the number of deleted rows, at most `limit`. */
export async function deleteOldRest(tx: Tx<DB>, olderThanDays: number, limit: number): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from events_rest where (created_at, storage_id) in (select created_at, storage_id from events_rest
      where created_at < app_now() - make_interval(days => ${olderThanDays}) order by created_at limit ${limit})`.execute(
    tx,
  );
  return Number(numAffectedRows ?? 0);
}
