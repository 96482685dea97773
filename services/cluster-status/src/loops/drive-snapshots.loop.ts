import { type LeasedWork, type Loop, leasedWork } from '@baton/service-runtime';
import { takeJobStep } from '../commands/drive-job';
import type { SnapshotDeps } from '../commands/snapshot-deps';
import { sweepArchives } from '../commands/sweep-archives';

const SWEEP_MS = 600_000;
/** Longer than the time between the note of an uploaded archive and its row. */
const SWEEP_GRACE_MS = 3_600_000;

/** Works on snapshots, on every replica. A process takes one job at a time, because each job reads or writes everything. */
export function driveSnapshots(deps: SnapshotDeps): LeasedWork {
  const takeStep = (stopping: AbortSignal) => takeJobStep(deps, stopping);
  return leasedWork({ name: 'drive-snapshots', log: deps.log, takeStep });
}

export function sweepSnapshotArchives(deps: Pick<SnapshotDeps, 'db' | 'blobs'>): Loop {
  return {
    name: 'sweep-snapshot-archives',
    intervalMs: SWEEP_MS,
    tickOnce: () => sweepArchives(deps, SWEEP_GRACE_MS),
  };
}
