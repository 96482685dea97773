import type { clusterStatusRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { OsRelease } from '../domain/os-release';
import { deleteInstance, forgetDead, recordReports } from '../store/instances.sql';
import type { DB } from '../store/tables.gen';

/**
 * Takes the report of a process, for all its services, and answers the state of maintenance mode. A process that leaves is
 * forgotten; the state is empty then.
 */
export async function takeReport(
  { db, os }: { db: Db<DB>; os: OsRelease },
  report: clusterStatusRpc.ReportRequest,
): Promise<{ maintenance: string; configRevision?: string }> {
  if (!report.isLeaving) return recordReports(db.query, [report, ...report.others], os);
  for (const { service, instanceId } of [report, ...report.others])
    await deleteInstance(db.query, service, instanceId);
  return { maintenance: '' };
}

/** Forgets processes that have not reported for long, and their hosts. Any number of replicas may do it at once. */
export async function forgetSilent({ db }: { db: Db<DB> }): Promise<void> {
  await db.tx((tx) => forgetDead(tx));
}
