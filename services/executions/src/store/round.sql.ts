import { type RawBuilder, sql } from 'kysely';

/** A row that a loop processes: the time since which it exists, and the time of the read. Texts of the database, exact. */
export interface Placed {
  id: string;
  at: string;
  now: string;
}

/** The last row that was tried, and the time until which rows belong to this round. */
export interface Place {
  at: string;
  id: string;
  until: string;
}

/** Returns the columns of a `Placed` other than the id. */
export const placedAt = (at: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`${at}::text as at, app_now()::text as now`;

/** Returns the condition for rows after the place that existed when the round began; to be read in the order of `at` and `id`. */
export const behind = (
  place: Place | null,
  at: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  place === null
    ? sql`true`
    : sql`(${at}, ${id}) > (${place.at}::timestamptz, ${place.id}::uuid) and ${at} <= ${place.until}::timestamptz`;
