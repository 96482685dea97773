import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

/** Returns the database's time in epoch ms; schedules use only this clock. */
export async function readNowMs(db: AnyQuery): Promise<number> {
  const { rows } = await sql<{ now_ms: number }>`
    select (extract(epoch from app_now()) * 1000)::bigint as now_ms`.execute(db);
  return rows[0]!.now_ms;
}
