import type { Db, Tx } from '@baton/postgres';
import { openJobs } from '../store/snapshot-jobs.sql';
import type { DB } from '../store/tables.gen';

/** Returns whether a snapshot is being restored; dry runs do not count. */
export async function isRestoring(db: Db<DB>['query'] | Tx<DB>): Promise<boolean> {
  const jobs = await openJobs(db);
  return jobs.some((job) => job.kind === 'restore' && !job.is_dry_run);
}
