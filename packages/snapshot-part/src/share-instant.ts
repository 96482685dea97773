import type { Pool } from 'pg';
import { DATABASE_ID } from './export-tables';

/** An instant that every service in this database can read; it must be released. */
export interface SharedInstant {
  postgresSnapshot: string;
  databaseId: string;
  release(): Promise<void>;
}

/** Fixes an instant for all services; it may be released as soon as they have sent their headers. */
export async function shareInstant(pool: Pool): Promise<SharedInstant> {
  const client = await pool.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    await client.query('set local idle_in_transaction_session_timeout = 0');
    const snapshot = await client.query('select pg_export_snapshot() as name');
    const database = await client.query(DATABASE_ID);
    return {
      postgresSnapshot: snapshot.rows[0].name,
      databaseId: database.rows[0].id,
      release: async () => {
        await client.query('rollback').then(
          () => client.release(),
          (error: Error) => client.release(error),
        );
      },
    };
  } catch (error) {
    client.release(true);
    throw error;
  }
}
