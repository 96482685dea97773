import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import { model } from './model';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

export type SnapshotStatus = 'creating' | 'created' | 'failed' | 'uploaded';

export interface SnapshotRow {
  tenant: string;
  id: string;
  status: SnapshotStatus;
  error: string;
  created_by: string;
  created_at: string;
  archive_digest: string | null;
  archive_size: number | null;
}

export interface StoredArchive {
  digest: string;
  size: number;
}

const columnsOf = (archive: StoredArchive | null) => ({
  archive_digest: archive?.digest ?? null,
  archive_size: archive?.size ?? null,
});

/** Inserts a snapshot. @throws a unique violation when the id is taken. */
export async function insertSnapshot(
  tx: Tx<DB>,
  row: {
    tenant: string;
    id: string;
    status: SnapshotStatus;
    createdBy: string;
    archive: StoredArchive | null;
  },
): Promise<void> {
  const { createdBy, archive, ...rest } = row;
  const data = { ...rest, created_by: createdBy, ...columnsOf(archive) };
  await model.over(tx, (p) => p.snapshot.create({ select: { id: true }, data }));
}

export async function findSnapshot(db: Reader, tenant: string, id: string): Promise<SnapshotRow | null> {
  const found = await model.over(db, (p) => p.snapshot.findFirst({ where: { tenant, id } }));
  if (!found) return null;
  return {
    ...found,
    // A check constraint of the table guarantees it.
    status: found.status as SnapshotStatus,
    created_at: found.created_at.toISOString(),
    archive_size: found.archive_size === null ? null : Number(found.archive_size),
  };
}

/** Returns a snapshot that is not deleted before the end of the transaction; null when there is none. */
export async function lockSnapshot(tx: Tx<DB>, tenant: string, id: string): Promise<SnapshotRow | null> {
  await sql`select from snapshots where tenant = ${tenant} and id = ${id} for share`.execute(tx);
  return await findSnapshot(tx, tenant, id);
}

/** Ends the status `creating`; false when the row was deleted or its status was changed meanwhile. */
export async function endCreation(
  tx: Tx<DB>,
  of: { tenant: string; id: string },
  end: { status: 'created' | 'failed'; error: string; archive: StoredArchive | null },
): Promise<boolean> {
  const { archive, ...rest } = end;
  const where = { tenant: of.tenant, id: of.id, status: 'creating' };
  const data = { ...rest, ...columnsOf(archive) };
  const { count } = await model.over(tx, (p) => p.snapshot.updateMany({ where, data }));
  return count === 1;
}

/**
 * Sets the status. False when the status needs an archive and there is none, when `creating` finds no open job, or when the row
 * was deleted.
 */
export async function setSnapshotStatus(
  tx: Tx<DB>,
  of: { tenant: string; id: string },
  status: SnapshotStatus,
  error: string,
): Promise<boolean> {
  const done = await sql`
    update snapshots set status = ${status}, error = ${error} where tenant = ${of.tenant} and id = ${of.id}
      and (archive_digest is not null or ${status} not in ('created', 'uploaded'))
      and (${status} <> 'creating' or exists (select 1 from snapshot_jobs j
        where j.tenant = snapshots.tenant and j.snapshot_id = snapshots.id and j.kind = 'create' and j.state <> 'ended'))`.execute(
    tx,
  );
  return done.numAffectedRows === 1n;
}

/** Deletes a snapshot; returns the digest of its archive, null when it has none. */
export async function deleteSnapshot(tx: Tx<DB>, tenant: string, id: string): Promise<string | null> {
  const { rows } = await sql<{ archive_digest: string | null }>`
    delete from snapshots where tenant = ${tenant} and id = ${id} returning archive_digest`.execute(tx);
  return rows[0]?.archive_digest ?? null;
}

/** Marks an archive that may be without a reference after a crash; `isOver`: no snapshot or log bundle needs it any more. */
export async function noteLooseArchive(db: Reader, digest: string, isOver: boolean): Promise<void> {
  await sql`insert into loose_archives (digest, since)
    values (${digest}, case when ${isOver} then '-infinity' else app_now() end)
    on conflict (digest) do update set since = excluded.since`.execute(db);
}

/** Deletes marks older than `graceMs`; returns the marked archives that no snapshot and no log bundle refers to. */
export async function takeLooseArchives(tx: Tx<DB>, graceMs: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ digest: string }>`
    with old as (
      delete from loose_archives where digest in (
        select digest from loose_archives where since < app_now() - ${graceMs}::float8 * interval '1 millisecond'
        limit ${limit} for update skip locked) returning digest)
    select digest from old where not exists (select 1 from snapshots s where s.archive_digest = old.digest)
      and not exists (select 1 from log_bundles b where b.archive_digest = old.digest)
      and not exists (select 1 from imports i where i.archive_digest = old.digest and i.has_archive)`.execute(
    tx,
  );
  return rows.map(({ digest }) => digest);
}
