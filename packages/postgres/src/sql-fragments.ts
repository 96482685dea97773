import { type RawBuilder, sql } from 'kysely';

/** The expression of `app_now()`, for statements that are too hot for a call. */
export const APP_NOW = `coalesce(nullif(current_setting('baton.fake_now', true), '')::timestamptz, clock_timestamp())`;

/** The current time of the database, the only clock that counts. Typed as the ISO text that reads return. */
export const appNow: RawBuilder<string> = sql<string>`app_now()`;

/** `app_now()` plus `ms` milliseconds (negative: before). For leases and due times. */
export function appNowPlus(ms: number): RawBuilder<string> {
  return sql<string>`app_now() + ${ms}::float8 * interval '1 millisecond'`;
}

/** A value for a jsonb column. Needed for lists and texts, because the driver would send them in another form. */
export function jsonb<T>(value: T): RawBuilder<T> {
  return sql<T>`${JSON.stringify(value)}::jsonb`;
}

/** The select list of `{field: expression}`. */
export function selectFields(columns: Readonly<Record<string, RawBuilder<unknown>>>): RawBuilder<unknown> {
  return sql.join(Object.entries(columns).map(([field, column]) => sql`${column} as ${sql.id(field)}`));
}
