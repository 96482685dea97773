import type { Envelope } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { deleteOfDeployment } from '../store/executions.sql';
import { deleteSchedulesOfDeployment } from '../store/schedules.sql';
import type { DB } from '../store/tables.gen';

/**
 * A deployment is gone: its schedules and executions go with it, its events when the caller asked for that (the original: always).
 * Repeating is harmless.
 */
export function onDeploymentDeleted(deps: { db: Db<DB>; wire: 'spec' | 'cloudify' }) {
  return async ({
    tenant,
    payload,
  }: Envelope<{ deploymentId: string; deleteLogs: boolean }>): Promise<void> => {
    const withEvents = payload.deleteLogs || deps.wire === 'cloudify';
    await deps.db.tx(async (tx) => {
      await deleteSchedulesOfDeployment(tx, tenant, payload.deploymentId);
      await deleteOfDeployment(tx, tenant, payload.deploymentId, withEvents);
    });
  };
}
