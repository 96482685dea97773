import type { Loop } from '@baton/service-runtime';
import { driveJob, LEASE_MS } from '../commands/drive-job';
import type { SnapshotDeps } from '../commands/snapshot-deps';
import { leaseJob } from '../store/snapshot-jobs.sql';
import { takeLooseArchives } from '../store/snapshots.sql';

/** Finds what other processes left; this one looks when it gets work and when a pause is over. */
const INTERVAL_MS = 10_000;
const SWEEP_MS = 600_000;
/** Longer than an upload takes from the note of its archive to its row. */
const SWEEP_GRACE_MS = 3_600_000;
const SWEEP_BATCH = 20;
/** Steps of jobs that one round may take. */
const MAX_STEPS = 100;

export interface SnapshotDriver {
  loops: Loop[];
  /** Looks for work now; resolves when there is none left that can go on. */
  work(): Promise<void>;
  /** Breaks off what runs: another replica, or the next start, goes on. */
  stop(): Promise<void>;
}

/** Takes work on snapshots on, on every replica; one job at a time in a process, each reads or writes everything. */
export function driveSnapshots(deps: SnapshotDeps): SnapshotDriver {
  const stopping = new AbortController();
  let working: Promise<void> | null = null;
  const takeSteps = async (): Promise<void> => {
    for (let step = 0; step < MAX_STEPS && !stopping.signal.aborted; step++) {
      const job = await leaseJob(deps.db.query, deps.instanceId, LEASE_MS);
      if (!job) return;
      await driveJob(deps, job, stopping.signal);
    }
  };
  const work = (): Promise<void> => {
    working ??= takeSteps()
      .catch((error: unknown) => deps.log.warn({ err: error }, 'snapshots are not driven'))
      .finally(() => {
        working = null;
      });
    return working;
  };
  return {
    work,
    loops: [
      // Beside the loop: a tick must not last as long as a snapshot.
      { name: 'drive-snapshots', intervalMs: INTERVAL_MS, tickOnce: async () => void work() },
      {
        name: 'sweep-snapshot-archives',
        intervalMs: SWEEP_MS,
        tickOnce: () => sweepArchives(deps, SWEEP_GRACE_MS),
      },
    ],
    stop: async () => {
      stopping.abort(new Error('the process stops'));
      await working;
    },
  };
}

/** Deletes archives that no snapshot has. A crash in the middle leaves blobs that nobody names: space, nothing else. */
export async function sweepArchives(
  { db, blobs }: Pick<SnapshotDeps, 'db' | 'blobs'>,
  graceMs: number,
): Promise<{ again: boolean }> {
  const digests = await db.tx((tx) => takeLooseArchives(tx, graceMs, SWEEP_BATCH));
  for (const digest of digests) await blobs.delete(digest);
  return { again: digests.length === SWEEP_BATCH };
}
