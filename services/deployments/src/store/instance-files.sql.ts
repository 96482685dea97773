/** Files of node instances and their locks (docs/adr/0044-files-of-an-instance.md). Keys: tenant, instance and name. */
import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

export interface FileKey {
  tenant: string;
  instanceId: string;
  name: string;
}

export interface FileLock {
  holder: string;
  /** ISO times. */
  taken_at: string;
  expires_at: string;
}

/** A name of an instance that has a file, a lock that is in force, or both. */
export interface InstanceFile {
  name: string;
  size: number | null;
  sha256: string | null;
  updated_at: string | null;
  lock: FileLock | null;
}

/** Returns the files of an instance, or one of them, in the order of their names. */
export async function listFiles(
  db: AnyQuery,
  tenant: string,
  instanceId: string,
  name: string | null = null,
): Promise<InstanceFile[]> {
  const { rows } = await sql<Omit<InstanceFile, 'lock'> & { [K in keyof FileLock]: FileLock[K] | null }>`
    select name, f.size::float8 as size, f.sha256, f.updated_at, l.holder, l.taken_at, l.expires_at
    from (select * from node_instance_files where instance_id = ${instanceId} and tenant = ${tenant}) f
    full join (select * from node_instance_file_locks where instance_id = ${instanceId} and tenant = ${tenant}
      and expires_at > app_now()) l using (name)
    where ${name}::text is null or name = ${name} order by name`.execute(db);
  return rows.map(({ holder, taken_at, expires_at, ...file }) => ({
    ...file,
    lock: holder === null ? null : { holder, taken_at: taken_at!, expires_at: expires_at! },
  }));
}

/** Returns the place of the content of a file; null: there is none. */
export async function findContent(
  db: AnyQuery,
  { tenant, instanceId, name }: FileKey,
): Promise<{ blob_digest: string; size: number } | null> {
  const { rows } = await sql<{ blob_digest: string; size: number }>`
    select blob_digest, size::float8 as size from node_instance_files
    where instance_id = ${instanceId} and tenant = ${tenant} and name = ${name}`.execute(db);
  return rows[0] ?? null;
}

export async function writeFile(
  tx: AnyTx,
  { tenant, instanceId, name }: FileKey,
  content: { size: number; sha256: string; digest: string },
): Promise<void> {
  await sql`insert into node_instance_files (tenant, instance_id, name, size, sha256, blob_digest)
    values (${tenant}, ${instanceId}, ${name}, ${content.size}, ${content.sha256}, ${content.digest})
    on conflict (instance_id, tenant, name) do update set size = excluded.size, sha256 = excluded.sha256,
      blob_digest = excluded.blob_digest, updated_at = app_now()`.execute(tx);
}

/** Removes a file. Returns whether there was one. */
export async function removeFile(tx: AnyTx, { tenant, instanceId, name }: FileKey): Promise<boolean> {
  const { rows } = await sql`delete from node_instance_files
    where instance_id = ${instanceId} and tenant = ${tenant} and name = ${name} returning name`.execute(tx);
  return rows.length > 0;
}

/** Number and bytes of the files of an instance, and bytes of those of its tenant. */
export async function usageOf(
  tx: AnyTx,
  { tenant, instanceId }: Omit<FileKey, 'name'>,
): Promise<{ files: number; bytes: number; tenantBytes: number }> {
  const { rows } = await sql<{ files: number; bytes: number; tenantBytes: number }>`
    select count(*) filter (where instance_id = ${instanceId})::int as files,
      coalesce(sum(size) filter (where instance_id = ${instanceId}), 0)::float8 as bytes,
      coalesce(sum(size), 0)::float8 as "tenantBytes"
    from node_instance_files where tenant = ${tenant}`.execute(tx);
  return rows[0]!;
}

/** Transactions of one tenant that add bytes wait for each other's commit; no lock is taken after this one. */
export async function lockUsage(tx: AnyTx, tenant: string): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`files of ${tenant}`}, 0))`.execute(tx);
}

/** Returns the lock of a name that is in force; null: it is free. */
export async function findLock(
  tx: AnyTx,
  { tenant, instanceId, name }: FileKey,
): Promise<(FileLock & { lock_id: string }) | null> {
  const { rows } = await sql<FileLock & { lock_id: string }>`
    select lock_id, holder, taken_at, expires_at from node_instance_file_locks
    where instance_id = ${instanceId} and tenant = ${tenant} and name = ${name} and expires_at > app_now()`.execute(
    tx,
  );
  return rows[0] ?? null;
}

/** Counts the names of an instance that are locked. */
export async function countLocks(tx: AnyTx, { tenant, instanceId }: Omit<FileKey, 'name'>): Promise<number> {
  const { rows } = await sql<{ count: number }>`select count(*)::int as count from node_instance_file_locks
    where instance_id = ${instanceId} and tenant = ${tenant} and expires_at > app_now()`.execute(tx);
  return rows[0]!.count;
}

/** Writes a lock that is free or has the same id; of a renewed one the time of its beginning stays. */
export async function writeLock(
  tx: AnyTx,
  { tenant, instanceId, name }: FileKey,
  { lockId, holder, seconds }: { lockId: string; holder: string; seconds: number },
): Promise<void> {
  await sql`delete from node_instance_file_locks
    where instance_id = ${instanceId} and tenant = ${tenant} and expires_at <= app_now()`.execute(tx);
  await sql`insert into node_instance_file_locks (tenant, instance_id, name, lock_id, holder, expires_at)
    values (${tenant}, ${instanceId}, ${name}, ${lockId}, ${holder}, app_now() + ${seconds}::int * interval '1 second')
    on conflict (instance_id, tenant, name) do update set lock_id = excluded.lock_id, holder = excluded.holder,
      expires_at = excluded.expires_at`.execute(tx);
}

export async function removeLock(tx: AnyTx, { tenant, instanceId, name }: FileKey): Promise<void> {
  await sql`delete from node_instance_file_locks
    where instance_id = ${instanceId} and tenant = ${tenant} and name = ${name}`.execute(tx);
}

/** Marks a blob that no row refers to yet. */
export async function noteLooseBlob(db: AnyQuery, digest: string): Promise<void> {
  await sql`insert into loose_blobs (digest) values (${digest})
    on conflict (digest) do update set since = excluded.since`.execute(db);
}

/** Takes marks older than `graceMs`, at most `limit`. Returns the blobs that no row refers to. */
export async function takeLooseBlobs(
  tx: AnyTx,
  graceMs: number,
  limit: number,
): Promise<{ taken: number; unused: string[] }> {
  const { rows } = await sql<{ digest: string; is_used: boolean }>`
    with taken as (
      delete from loose_blobs where digest in (
        select digest from loose_blobs where since < app_now() - ${graceMs}::float8 * interval '1 millisecond'
        order by since limit ${limit} for update skip locked)
      returning digest)
    select digest, exists (select 1 from node_instance_files f where f.blob_digest = t.digest) as is_used
    from taken t`.execute(tx);
  return { taken: rows.length, unused: rows.filter((row) => !row.is_used).map((row) => row.digest) };
}
