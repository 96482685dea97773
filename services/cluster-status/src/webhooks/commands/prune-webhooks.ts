import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { pruneDeliveries, pruneHosts } from '../store/deliveries.sql';

const KEEP_MS = 14 * 86_400_000;
/** Ended deliveries that a webhook keeps at most. */
const KEEP_COUNT = 1_000;
const BATCH = 1_000;

/** Deletes ended deliveries by age and count, and breakers of forgotten hosts. @returns `again` when the batch was full. */
export async function pruneWebhooks({ db }: { db: Db<DB> }): Promise<{ again: boolean }> {
  const pruned = await pruneDeliveries(db.query, { keepMs: KEEP_MS, keepCount: KEEP_COUNT, limit: BATCH });
  await pruneHosts(db.query);
  return { again: pruned >= BATCH };
}
