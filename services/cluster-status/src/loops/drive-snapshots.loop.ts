import { type LeasedWork, type Loop, leasedWork } from '@baton/service-runtime';
import { takeJobStep } from '../commands/drive-job';
import type { SnapshotDeps } from '../commands/snapshot-deps';
import { sweepArchives } from '../commands/sweep-archives';

const SWEEP_MS = 600_000;
/** Longer than an upload takes from the note of its archive to its row. */
const SWEEP_GRACE_MS = 3_600_000;

/** Takes work on snapshots on, on every replica; one job at a time in a process, each reads or writes everything. */
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
