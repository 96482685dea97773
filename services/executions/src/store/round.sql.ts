import { type RawBuilder, sql } from 'kysely';

/** A row of work that a loop looks through: since when it is there, and the time of the look. Texts of the database, exact. */
export interface Placed {
  id: string;
  at: string;
  now: string;
}

/** The last row that was tried, and until when those of this round were there. */
export interface Place {
  at: string;
  id: string;
  until: string;
}

/** The columns of a `Placed` beside the id. */
export const placedAt = (at: RawBuilder<unknown>): RawBuilder<unknown> =>
  sql`${at}::text as at, app_now()::text as now`;

/** Behind the place, and there when its round began; to be read in the order of `at` and `id`. */
export const behind = (
  place: Place | null,
  at: RawBuilder<unknown>,
  id: RawBuilder<unknown>,
): RawBuilder<unknown> =>
  place === null
    ? sql`true`
    : sql`(${at}, ${id}) > (${place.at}::timestamptz, ${place.id}::uuid) and ${at} <= ${place.until}::timestamptz`;
