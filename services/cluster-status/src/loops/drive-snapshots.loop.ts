import { type LeasedWork, type Loop, leasedWork } from '@baton/service-runtime';
import { driveJob, LEASE_MS } from '../commands/drive-job';
import type { SnapshotDeps } from '../commands/snapshot-deps';
import { leaseJob } from '../store/snapshot-jobs.sql';
import { takeLooseArchives } from '../store/snapshots.sql';

const SWEEP_MS = 600_000;
/** Longer than an upload takes from the note of its archive to its row. */
const SWEEP_GRACE_MS = 3_600_000;
const SWEEP_BATCH = 20;

/** Takes work on snapshots on, on every replica; one job at a time in a process, each reads or writes everything. */
export function driveSnapshots(deps: SnapshotDeps): LeasedWork {
  const takeStep = async (stopping: AbortSignal): Promise<number | null> => {
    const job = await leaseJob(deps.db.query, deps.instanceId, LEASE_MS);
    return job && (await driveJob(deps, job, stopping));
  };
  return leasedWork({ name: 'drive-snapshots', log: deps.log, takeStep });
}

export function sweepSnapshotArchives(deps: Pick<SnapshotDeps, 'db' | 'blobs'>): Loop {
  return {
    name: 'sweep-snapshot-archives',
    intervalMs: SWEEP_MS,
    tickOnce: () => sweepArchives(deps, SWEEP_GRACE_MS),
  };
}

/** Deletes archives that no snapshot has. A crash in the middle leaves blobs that nobody names: space, nothing else. */
async function sweepArchives(
  { db, blobs }: Pick<SnapshotDeps, 'db' | 'blobs'>,
  graceMs: number,
): Promise<{ again: boolean }> {
  const digests = await db.tx((tx) => takeLooseArchives(tx, graceMs, SWEEP_BATCH));
  for (const digest of digests) await blobs.delete(digest);
  return { again: digests.length === SWEEP_BATCH };
}
