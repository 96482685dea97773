import type { Readable } from 'node:stream';
import type { BlobStore } from '@baton/blob-store';
import type { Db } from '@baton/postgres';
import { noteLooseBlobs } from '../store/archives.sql';
import type { DB } from '../store/tables.gen';

/**
 * Stores bytes that no row names yet. Until one does, and after a crash, they are left to the sweep.
 * @throws AppError payload_too_large_error beyond `maxBytes`; whatever `content` fails with
 */
export async function storeLoose(
  { db, blobs }: { db: Pick<Db<DB>, 'query'>; blobs: BlobStore },
  content: Readable,
  limits: { maxBytes?: number } = {},
): Promise<{ digest: string; size: number }> {
  const stored = await blobs.put(content, limits);
  await noteLooseBlobs(db.query, [stored.digest]);
  return stored;
}
