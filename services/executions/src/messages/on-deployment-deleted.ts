import type { Envelope } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { deleteOfDeployment } from '../store/executions.sql';
import type { DB } from '../store/tables.gen';

/** A deployment is gone: its executions go with it, its events when the caller asked for that. Repeating is harmless. */
export function onDeploymentDeleted(deps: { db: Db<DB> }) {
  return async ({
    tenant,
    payload,
  }: Envelope<{ deploymentId: string; deleteLogs: boolean }>): Promise<void> => {
    await deps.db.tx((tx) => deleteOfDeployment(tx, tenant, payload.deploymentId, payload.deleteLogs));
  };
}
