import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { type MaintenanceRow, statesBefore } from '../domain/maintenance';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

export async function readMaintenance(reader: Reader): Promise<MaintenanceRow> {
  const { rows } = await sql<MaintenanceRow>`
    select status, activation_requested_at, activated_at, requested_by from maintenance`.execute(reader);
  return rows[0]!;
}

/** Starts the activation; false when the mode is activating or activated already. */
export async function requestActivation(tx: Tx<DB>, username: string): Promise<boolean> {
  const { rows } = await sql`
    update maintenance set status = 'activating', activation_requested_at = app_now(), requested_by = ${username}
    where status = any(${statesBefore('requested')}) returning 1`.execute(tx);
  return rows.length > 0;
}

/** Completes the activation, once nothing runs any more. False when the mode is not activating any more. */
export async function completeActivation(tx: Tx<DB>): Promise<boolean> {
  const { rows } = await sql`
    update maintenance set status = 'activated', activated_at = app_now()
    where status = any(${statesBefore('drained')}) returning 1`.execute(tx);
  return rows.length > 0;
}

/** Ends the mode; false when it is off already. */
export async function endMaintenance(tx: Tx<DB>): Promise<boolean> {
  const { rows } = await sql`
    update maintenance set status = 'deactivated', activation_requested_at = null, activated_at = null,
      requested_by = null
    where status = any(${statesBefore('ended')}) returning 1`.execute(tx);
  return rows.length > 0;
}
