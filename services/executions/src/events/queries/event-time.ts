import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';

export interface EventTime {
  seq: number;
  /** ISO 8601; time of the step that wrote the event. */
  time: string;
}

/** Returns the last remaining event of an execution up to a sequence number; null when there is none. */
export async function eventTime(db: AnyQuery, executionId: string, seq: number): Promise<EventTime | null> {
  const { rows } = await sql<EventTime>`
    select seq, created_at as time from events where execution_id = ${executionId}::uuid and seq <= ${seq}
    order by seq desc limit 1`.execute(db);
  return rows[0] ?? null;
}
