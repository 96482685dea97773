import type { PoolClient } from 'pg';

/** SQL expression of an instant in the form of records, with microseconds. */
export const iso = (column: string): string =>
  `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;

/**
 * Reads the column `item` (json) of a query as texts, `size` rows at a time, in the caller's transaction.
 * Only one such reading may be open on a connection.
 */
export async function* readItems(
  client: PoolClient,
  query: string,
  values: readonly unknown[],
  size: number,
): AsyncGenerator<string[], void, void> {
  await client.query(
    `declare exported no scroll cursor for select item::text as item from (${query}) exported`,
    [...values],
  );
  try {
    for (;;) {
      const { rows } = await client.query<{ item: string }>(`fetch ${Math.trunc(size)} from exported`);
      if (rows.length === 0) return;
      yield rows.map(({ item }) => item);
    }
  } finally {
    // In a failed transaction the cursor is gone already.
    await client.query('close exported').catch(() => undefined);
  }
}
