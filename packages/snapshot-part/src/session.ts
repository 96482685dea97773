import type { Pool, PoolClient } from 'pg';

/**
 * Limit of one statement. A statement of a restore handles at most a batch of rows, or truncates; the longest one builds an index
 * of a big table.
 */
const STATEMENT_LIMIT_MS = 30 * 60_000;
/** Longest wait for locks on tables that others are writing to; then the caller tries again. */
const LOCK_LIMIT_MS = 20_000;

/**
 * Runs `work` in a separate transaction that may last long. It is not `db.tx`, which is for commands and has their limits. `end`
 * determines whether it commits or rolls back.
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
    // A connection in an unknown state is not returned to the pool.
    await client.query('rollback').then(
      () => client.release(),
      (cause: Error) => client.release(cause),
    );
    throw error;
  }
}
