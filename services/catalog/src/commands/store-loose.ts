import type { Readable } from 'node:stream';
import type { BlobStore } from '@baton/blob-store';
import type { Db } from '@baton/postgres';
import { noteLooseBlobs } from '../store/archives.sql';
import type { DB } from '../store/tables.gen';

/**
 * Stores bytes that no row refers to yet. Until a row does, and after a crash, the sweep may remove them.
 * @throws AppError payload_too_large_error beyond `maxBytes`; the errors of `content`
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
