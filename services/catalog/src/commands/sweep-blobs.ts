import type { BlobStore } from '@baton/blob-store';
import type { Db } from '@baton/postgres';
import { dropUnusedArchives, takeLooseBlobs } from '../store/archives.sql';
import type { DB } from '../store/tables.gen';

const BATCH = 100;

export interface SweepDeps {
  db: Db<DB>;
  blobs: BlobStore;
  graceMs: number;
}

/**
 * Deletes archives and blobs that no blueprint or plugin uses. A crash between the removal of the marks and the deletion leaves an
 * unreferenced blob: it costs space and does no other harm. A later put of the same blob stores it again.
 */
export async function sweepOnce({ db, blobs, graceMs }: SweepDeps): Promise<{ again: boolean }> {
  const archives = await db.tx((tx) => dropUnusedArchives(tx, graceMs, BATCH));
  const digests = await db.tx((tx) => takeLooseBlobs(tx, graceMs, BATCH));
  for (const digest of digests) await blobs.delete(digest);
  return { again: archives === BATCH || digests.length === BATCH };
}
