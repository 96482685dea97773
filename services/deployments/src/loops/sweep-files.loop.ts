import { type FileDeps, sweepFiles } from '../commands/instance-files';

const INTERVAL_MS = 600_000;
/** Longer than any upload takes from its blob to its row. */
const GRACE_MS = 3_600_000;

/** Removes the content of files of node instances that are gone; at most 100 a tick, any number of replicas. */
export function sweepFilesLoop(deps: Pick<FileDeps, 'db' | 'blobs'>) {
  return {
    name: 'sweep-instance-files',
    intervalMs: INTERVAL_MS,
    tickOnce: () => sweepFiles(deps, GRACE_MS),
  };
}
