import { takeLooseArchives } from '../store/snapshots.sql';
import type { SnapshotDeps } from './snapshot-deps';

const BATCH = 20;

/**
 * Deletes archives that no snapshot and no log bundle refers to and that were noted over `graceMs` ago; at most 20. `again`:
 * there may be more. A crash in the middle leaves blobs without any reference: they cost space, nothing else.
 */
export async function sweepArchives(
  { db, blobs }: Pick<SnapshotDeps, 'db' | 'blobs'>,
  graceMs: number,
): Promise<{ again: boolean }> {
  const digests = await db.tx((tx) => takeLooseArchives(tx, graceMs, BATCH));
  for (const digest of digests) await blobs.delete(digest);
  return { again: digests.length === BATCH };
}
