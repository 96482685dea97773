import type { Db } from '@baton/postgres';
import type { DB } from '../../store/tables.gen';
import { readWorkerKey } from '../store/workers.sql';

/** Returns the public key of a registered worker; null when there is none, or it was revoked. */
export const keyOfWorker = (db: Db<DB>['query'], workerId: string): Promise<string | null> =>
  readWorkerKey(db, workerId);
