import type { BlobStore } from '@baton/blob-store';
import type { ImportPool } from '@baton/import-part';
import type { Db } from '@baton/postgres';
import { type Spool, spool } from '../archive/spool';
import type { DB } from '../store/tables.gen';

/** Notes that an import needs contents, beside its transaction: they stay for the apply, which may come days after the check. */
export async function holdBlobs(
  { db }: { db: Pick<Db<DB>, 'pool'> },
  importId: string,
  digests: readonly string[],
): Promise<void> {
  if (digests.length === 0) return;
  await db.pool.query(
    'insert into import_blobs (import_id, digest) select distinct $1::uuid, unnest($2::text[]) on conflict do nothing',
    [importId, digests],
  );
}

/** Leaves the contents of an import to the sweep, which keeps those that rows refer to. */
export async function releaseBlobs(pool: ImportPool, importId: string): Promise<void> {
  await pool.query(
    `with gone as (delete from import_blobs where import_id = $1 returning digest)
     insert into loose_blobs (digest) select digest from gone
     on conflict (digest) do update set since = excluded.since`,
    [importId],
  );
}

/** A readable copy of a stored content. @throws AppError not_found_error; payload_too_large_error */
export async function spoolBlob(blobs: BlobStore, digest: string, maxBytes: number): Promise<Spool> {
  return await spool((await blobs.open(digest)) as AsyncIterable<Buffer>, maxBytes);
}
