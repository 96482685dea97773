import type { Db } from '@baton/postgres';
import type { DB } from './tables.gen';

/** What seals texts in the cache; the same for every replica, and nobody else's. */
export async function readCacheKey(db: Db<DB>): Promise<Buffer> {
  const { key } = await db.query.selectFrom('cache_key').select('key').executeTakeFirstOrThrow();
  return key;
}
