import type { clusterStatusRpc } from '@baton/contracts';
import type { Db } from '@baton/postgres';
import type { OsRelease } from '../domain/os-release';
import { deleteInstance, forgetDead, recordReports } from '../store/instances.sql';
import type { DB } from '../store/tables.gen';

export interface ReportDeps {
  db: Db<DB>;
  os: OsRelease;
  /** Completes an activation that waits for nothing any more, and returns the state; a failure leaves it as it is. */
  settle: () => Promise<string>;
}

/**
 * Stores the report of a process, for all its services, and returns the state of maintenance mode. A process that leaves is
 * deleted; the returned state is then empty. A gateway that asks while the mode waits for running work completes the activation, if
 * nothing runs any more: with the original, too, the next request does (reference/rest-api.md 5.20).
 */
export async function takeReport(
  { db, os, settle }: ReportDeps,
  report: clusterStatusRpc.ReportRequest,
): Promise<{ maintenance: string; configRevision?: string }> {
  if (!report.isLeaving) {
    const known = await recordReports(db.query, [report, ...report.others], os);
    if (report.service !== 'gateway' || known.maintenance !== 'activating') return known;
    // Nobody answers for what still runs: the state stays, and the loop settle-maintenance tries again.
    return { ...known, maintenance: await settle().catch(() => known.maintenance) };
  }
  for (const { service, instanceId } of [report, ...report.others])
    await deleteInstance(db.query, service, instanceId);
  return { maintenance: '' };
}

/** Deletes processes that have not reported for long, and their hosts. Any number of replicas may do this at once. */
export async function forgetSilent({ db }: { db: Db<DB> }): Promise<void> {
  await db.tx((tx) => forgetDead(tx));
}
