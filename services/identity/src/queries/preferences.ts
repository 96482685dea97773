import type { Db } from '@baton/postgres';
import { readPreferences } from '../store/own-settings.sql';
import type { DB as Tables } from '../store/tables.gen';

/** Returns the user's preferences; empty when none are set. */
export async function getPreferences(
  { db }: { db: Db<Tables> },
  userId: number,
): Promise<Record<string, unknown>> {
  return (await readPreferences(db.query, userId)) ?? {};
}
