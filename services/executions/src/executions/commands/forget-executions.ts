import type { Db } from '@baton/postgres';
import { removeSchedulesOf } from '../../schedules/commands/remove-schedules';
import type { GoneDeployment } from '../../store/gone-deployment.sql';
import type { DB } from '../../store/tables.gen';
import { deleteDeletion, deleteEnded, deleteOfDeployment } from '../store/executions.sql';

/** Removes the schedules and ended executions of a deployment that is gone; with `withEvents`, also its events. */
export async function forgetDeployment(db: Db<DB>, gone: GoneDeployment, withEvents: boolean): Promise<void> {
  await db.tx(async (tx) => {
    await removeSchedulesOf(tx, gone);
    await deleteOfDeployment(tx, gone, withEvents);
  });
}

/** Removes one execution when it has ended. */
export async function forgetExecution(db: Db<DB>, tenant: string, id: string): Promise<void> {
  await db.tx((tx) => deleteEnded(tx, tenant, id));
}

/** Removes the ended execution that deleted its deployment; with `withEvents`, also its events. Leaves other executions alone. */
export async function forgetDeletion(
  db: Db<DB>,
  tenant: string,
  id: string,
  withEvents: boolean,
): Promise<void> {
  await db.tx((tx) => deleteDeletion(tx, tenant, id, withEvents));
}
