import { type BlobStore, SWEEP_INTERVAL_MS, sweepTemporaryFolders } from '@baton/blob-store';
import type { Loop } from './loops';

/**
 * Removes what processes that were killed left half done, at most a minute after their death: temporary folders of this
 * machine, and drafts of the file store, whichever process looks first.
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
