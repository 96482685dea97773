import type { Db } from '@baton/postgres';
import type { DB } from './tables.gen';

/** Returns the key that seals texts in the cache; all replicas share it, and no other program has it. */
export async function readCacheKey(db: Db<DB>): Promise<Buffer> {
  const { key } = await db.query.selectFrom('cache_key').select('key').executeTakeFirstOrThrow();
  return key;
}
