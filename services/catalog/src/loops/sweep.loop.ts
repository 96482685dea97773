import type { Loop } from '@baton/service-runtime';
import { type SweepDeps, sweepOnce } from '../commands/sweep-blobs';

/** Longer than any upload takes from its first blob to its row. */
const SWEEP_GRACE_MS = 3_600_000;

/** Deletes archives and blobs that nothing uses any more, on every replica. */
export function sweepLoop(deps: Omit<SweepDeps, 'graceMs'>): Loop {
  return {
    name: 'blob-sweep',
    intervalMs: 600_000,
    tickOnce: () => sweepOnce({ ...deps, graceMs: SWEEP_GRACE_MS }),
  };
}
