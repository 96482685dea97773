import type pg from 'pg';

/**
 * Runs VACUUM ANALYZE so that an index-only scan is possible afterwards. PostgreSQL counts a row as visible to all only when its
 * commit is on the disk, which `withoutDiskWaits` delays: one commit that waits for the disk writes all earlier ones too.
 */
export async function vacuumAnalyze(pool: pg.Pool, table: string): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query(
      "begin; set local synchronous_commit = on; select pg_logical_emit_message(true, 'vacuum', ''); commit",
    );
    await client.query(`vacuum (analyze) ${table}`);
  } finally {
    client.release();
  }
}
