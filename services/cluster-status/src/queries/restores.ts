import type { Db, Tx } from '@baton/postgres';
import { openJobs } from '../store/snapshot-jobs.sql';
import type { DB } from '../store/tables.gen';

/** Whether a snapshot is being restored, dry runs aside. */
export async function isRestoring(db: Db<DB>['query'] | Tx<DB>): Promise<boolean> {
  const jobs = await openJobs(db);
  return jobs.some((job) => job.kind === 'restore' && !job.is_dry_run);
}
