import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { writePreferences } from '../store/own-settings.sql';
import type { DB as Tables } from '../store/tables.gen';

const MAX_BYTES = 64 * 1024;

/** Replaces all preferences of the user. @throws AppError payload_too_large_error */
export async function setPreferences(
  { db }: { db: Db<Tables> },
  userId: number,
  preferences: Record<string, unknown>,
): Promise<void> {
  const bytes = Buffer.byteLength(JSON.stringify(preferences));
  if (bytes > MAX_BYTES)
    throw new AppError('payload_too_large_error', `The preferences are ${bytes} bytes of JSON`, {
      field: 'body',
      expected: `at most ${MAX_BYTES} bytes`,
    });
  await db.tx((tx) => writePreferences(tx, userId, preferences));
}
