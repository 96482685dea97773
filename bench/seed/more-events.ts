import type pg from 'pg';
import { clone } from './bulk';

/** Appends copies of its own events to an ended execution until it has `count` events. */
export async function moreEvents(pool: pg.Pool, executionId: string, count: number): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await client.query('set local synchronous_commit = off');
    const { rows } = await client.query<{ last: string }>(
      'select last_event_seq as last from executions.executions where id = $1 for update',
      [executionId],
    );
    const last = Number(rows[0]!.last);
    await clone(client, {
      table: 'executions.events',
      change: {
        storage_id: `nextval(pg_get_serial_sequence('executions.events', 'storage_id'))`,
        seq: 'n',
        message: `'event ' || n`,
      },
      from: `from generate_series(${last + 1}, ${count}) n, executions.events p
        where p.execution_id = '${executionId}' and p.seq = 1 + (n - 1) % ${last}`,
    });
    await client.query(
      'update executions.executions set last_event_seq = greatest(last_event_seq, $2) where id = $1',
      [executionId, count],
    );
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  } finally {
    client.release();
  }
}
