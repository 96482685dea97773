import { type BlobStore, SWEEP_INTERVAL_MS, sweepTemporaryFolders } from '@baton/blob-store';
import type { Loop } from './loops';

/**
 * A loop that removes the leftovers of killed processes, at most a minute after their death: temporary folders of this machine, and
 * drafts of the file store. The first process that looks removes them.
 */
export function temporarySweep(blobs: BlobStore): Loop {
  return {
    name: 'temporary-sweep',
    intervalMs: SWEEP_INTERVAL_MS,
    tickOnce: async () => {
      await Promise.all([sweepTemporaryFolders(), blobs.sweep()]);
      return undefined;
    },
  };
}
