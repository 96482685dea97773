import type { Db, Tx } from '@baton/postgres';
import type { GoneDeployment } from '../../store/gone-deployment.sql';
import type { DB } from '../../store/tables.gen';
import { deleteSchedule, deleteSchedulesOfDeployment } from '../store/schedules.sql';

/** Deletes a schedule and its occurrences; executions that it started stay. Repeating is harmless. */
export async function removeSchedule(db: Db<DB>, key: string): Promise<void> {
  await db.tx((tx) => deleteSchedule(tx, key));
}

/** Deletes the schedules of a deleted deployment, in the caller's transaction. */
export const removeSchedulesOf = (tx: Tx<DB>, gone: GoneDeployment): Promise<void> =>
  deleteSchedulesOfDeployment(tx, gone);
