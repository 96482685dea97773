import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { purgeOccurrences } from '../store/schedules.sql';

const BATCH = 5_000;

/** Deletes occurrences that were decided more than `keepDays` ago, at most 5,000; `again`: there may be more. */
export async function forgetOccurrences(db: Db<DB>, keepDays: number): Promise<{ again: boolean }> {
  return { again: (await db.tx((tx) => purgeOccurrences(tx, keepDays, BATCH))) === BATCH };
}
