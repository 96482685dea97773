import type pg from 'pg';

/**
 * Stops `app_now()` at `iso` for the database of `pool` (null: lets it run again): for every connection of the pool and for all
 * connections opened later. It takes all connections of the pool for a moment: a connection that is busy, or being opened, would
 * keep the old time.
 */
export async function setFakeNow(pool: pg.Pool, iso: string | null): Promise<void> {
  const value = iso === null ? '' : new Date(iso).toISOString();
  const clients = await Promise.all(Array.from({ length: pool.options.max }, () => pool.connect()));
  try {
    await clients[0]?.query(
      `do $$ begin execute format('alter database %I set baton.fake_now = %L', current_database(), '${value}'); end $$`,
    );
    await Promise.all(
      clients.map((client) => client.query(`select set_config('baton.fake_now', $1, false)`, [value])),
    );
  } finally {
    for (const client of clients) client.release();
  }
}
