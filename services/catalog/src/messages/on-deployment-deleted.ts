import type { Envelope } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import { dropDeploymentFolder } from '../commands/change-folder';
import type { DB } from '../store/tables.gen';

/** Removes the working folder of a deleted deployment. Repeating is harmless. */
export function onDeploymentDeleted({ db }: { db: Db<DB> }) {
  return async ({ tenant, time, payload }: Envelope<{ deploymentId: string }>): Promise<void> => {
    await dropDeploymentFolder(db, tenant, payload.deploymentId, time);
  };
}
