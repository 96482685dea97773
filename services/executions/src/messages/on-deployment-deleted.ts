import type { Envelope } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../store/tables.gen';

/** A deployment is gone: its executions go with it, its events when the caller asked for that. Repeating is harmless. */
export function onDeploymentDeleted(deps: { db: Db<DB> }) {
  return async ({
    tenant,
    payload,
  }: Envelope<{ deploymentId: string; deleteLogs: boolean }>): Promise<void> => {
    await deps.db.tx(async (tx) => {
      await sql`delete from executions where tenant = ${tenant} and deployment_id = ${payload.deploymentId}
        and phase = 'ended'`.execute(tx);
      if (payload.deleteLogs) {
        await sql`delete from events where tenant = ${tenant} and deployment_id = ${payload.deploymentId}`.execute(
          tx,
        );
      }
    });
  };
}
