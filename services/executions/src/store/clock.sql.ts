import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

/** The database's time in epoch ms: the one authority for schedules. */
export async function readNowMs(db: AnyQuery): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`
    select (extract(epoch from app_now()) * 1000)::bigint as now_ms`.execute(db);
  return rows[0]!.now_ms;
}
