import type { Db } from '@baton/postgres';
import type { DB as Tables } from '../../store/tables.gen';
import { TRIES } from '../domain/device-login';
import { deleteOldTries } from '../store/code-tries.sql';
import { deleteEndedLogins } from '../store/device-logins.sql';

const BATCH = 1_000;

/**
 * Deletes logins of programs that are over, and old counters of wrong codes, at most 1,000 of each. `again`: there may be more. Any
 * number of replicas may do it at once.
 */
export async function purgeDeviceLogins({ db }: { db: Db<Tables> }): Promise<{ again: boolean }> {
  const logins = await deleteEndedLogins(db.query, BATCH);
  const tries = await deleteOldTries(db.query, TRIES.windowMs, BATCH);
  return { again: logins === BATCH || tries === BATCH };
}
