import type { Db } from '@baton/postgres';
import { readNowMs } from '../../store/clock.sql';
import type { DB } from '../../store/tables.gen';
import { expiredMonths, monthsFrom } from '../domain/event-months';
import { countEvents, forgetEmptyChunks, forgetPlaces } from '../store/event-chunks.sql';
import {
  addPartition,
  deleteOldRest,
  dropPartition,
  hasRestOf,
  lockPartitions,
  readPartitions,
} from '../store/event-partitions.sql';

const MONTHS_AHEAD = 2;
const DELETE_BATCH = 5_000;

/**
 * Creates the missing partitions of this month and of the months to come. A month that has events in `events_rest` already gets
 * no partition; its events stay there. Each partition is created in its own transaction, by one replica; after a crash, the next
 * tick of any replica creates the rest. Returns the time that it used (epoch ms), and the partitions that existed before.
 */
export async function makeMonths(db: Db<DB>): Promise<{ nowMs: number; known: string[] }> {
  const nowMs = await readNowMs(db.query);
  const known = await readPartitions(db.query);
  for (const month of monthsFrom(nowMs, MONTHS_AHEAD)) {
    if (known.includes(month.table)) continue;
    await db.tx(async (tx) => {
      if (!(await lockPartitions(tx)) || (await readPartitions(tx)).includes(month.table)) return;
      if (!(await hasRestOf(tx, month))) await addPartition(tx, month);
    });
  }
  return { nowMs, known };
}

/**
 * Creates the partitions of the months to come, and deletes events older than `retentionDays` (0: none): whole months at once,
 * events of `events_rest` in batches. Each change is a transaction; after a crash, the next tick of any replica does the rest.
 */
export async function keepEvents(db: Db<DB>, retentionDays: number): Promise<{ again: boolean }> {
  const { nowMs, known } = await makeMonths(db);
  if (retentionDays === 0) return { again: false };
  for (const month of expiredMonths(known, nowMs, retentionDays))
    await db.tx(async (tx) => {
      if ((await lockPartitions(tx)) && (await readPartitions(tx)).includes(month.table))
        await dropPartition(tx, month);
    });
  const deleted = await db.tx(async (tx) => {
    const count = await deleteOldRest(tx, retentionDays, DELETE_BATCH);
    if (count > 0) await forgetEmptyChunks(tx);
    return count;
  });
  const forgotten = await forgetPlaces(db.query, DELETE_BATCH);
  return { again: deleted === DELETE_BATCH || forgotten === DELETE_BATCH };
}

/** Counts the next chunk of old events, or one that was reopened. @returns whether there is more to count at once */
export const countOldEvents = (db: Db<DB>): Promise<boolean> => countEvents(db.query);
