import type { Pool, PoolClient } from 'pg';

/** A statement of a restore handles at most a batch of rows, or truncates; building an index of a big table is longest. */
const STATEMENT_LIMIT_MS = 30 * 60_000;
/** For locks on tables that others are writing to; the caller comes again. */
const LOCK_LIMIT_MS = 20_000;

/**
 * Runs `work` in a transaction of its own that may last long: it is not `db.tx`, which is for commands and has their
 * limits. `end` decides how it ends.
 */
export async function inSession<T>(
  pool: Pool,
  begin: string,
  end: 'commit' | 'rollback',
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query(begin);
    await client.query(
      `set local idle_in_transaction_session_timeout = 0; set local statement_timeout = ${STATEMENT_LIMIT_MS};
       set local lock_timeout = ${LOCK_LIMIT_MS}`,
    );
    const result = await work(client);
    await client.query(end);
    client.release();
    return result;
  } catch (error) {
    // A connection in an unknown state is not given back.
    await client.query('rollback').then(
      () => client.release(),
      (cause: Error) => client.release(cause),
    );
    throw error;
  }
}
