import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { deleteSchedule } from '../store/schedules.sql';

/** Deletes a schedule with what is known of its occurrences; executions that it started stay. Repeating is harmless. */
export async function removeSchedule(db: Db<DB>, key: string): Promise<void> {
  await db.tx((tx) => deleteSchedule(tx, key));
}
