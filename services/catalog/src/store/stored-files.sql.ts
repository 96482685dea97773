/** Folders that clients and operations write to, and their files. */
import { newId } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { FolderKey } from '../domain/file-area';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** A file of a folder, without its content. */
export interface StoredFile {
  path: string;
  size: number;
  mode: number;
  digest: string;
  /** Time as Python writes it: `2026-01-02T03:04:05.678901+00:00`, without a fraction of zero. */
  modified: string;
  /** Microseconds since 1970. */
  modified_us: number;
}

export interface StoredContent extends StoredFile {
  content: Buffer | null;
  blob_digest: string | null;
}

/** A file to be written; its content is in `content` or in the blob store. */
export interface FileWrite {
  path: string;
  size: number;
  mode: number;
  digest: string;
  content: Buffer | null;
  blobDigest: string | null;
  /** Time in a format that PostgreSQL reads; null: now. */
  modified: string | null;
}

const of = (key: FolderKey) =>
  sql<boolean>`(area = ${key.area} and tenant = ${key.tenant} and folder = ${key.folder})`;

const FACTS = sql`path, size, mode, digest,
  replace(to_char(modified_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US'), '.000000', '') || '+00:00' as modified,
  (extract(epoch from modified_at) * 1000000)::bigint as modified_us`;

const visibilityOf = (key: FolderKey): string => (key.area === 'global-resources' ? 'global' : 'tenant');

/** Returns the version of a folder; null when the folder is empty. */
export async function findFolderVersion(db: Reader, key: FolderKey): Promise<string | null> {
  const row = await db.selectFrom('file_folders').select('version').where(of(key)).executeTakeFirst();
  return row?.version ?? null;
}

export async function findStoredFile(
  db: Reader,
  key: FolderKey,
  path: string,
): Promise<StoredContent | null> {
  const { rows } = await sql<StoredContent>`
    select ${FACTS}, content, blob_digest from stored_files where ${of(key)} and path = ${path}`.execute(db);
  return rows[0] ?? null;
}

/** Returns the files whose path begins with `prefix` ('' or a folder with its slash), by path. */
export async function listStoredFiles(db: Reader, key: FolderKey, prefix: string): Promise<StoredFile[]> {
  const { rows } = await sql<StoredFile>`
    select ${FACTS} from stored_files where ${of(key)} and starts_with(path, ${prefix}) order by path`.execute(
    db,
  );
  return rows;
}

/** Creates the folder when it is missing, locks it until the end of the transaction and gives it a new version. */
export async function lockFolder(tx: Tx<DB>, key: FolderKey): Promise<string> {
  const version = newId();
  await sql`
    insert into file_folders (area, tenant, visibility, folder, version)
    values (${key.area}, ${key.tenant}, ${visibilityOf(key)}, ${key.folder}, ${version})
    on conflict (area, tenant, folder) do update set version = excluded.version`.execute(tx);
  return version;
}

/** Writes files; replaces files with the same paths. */
export async function writeFiles(tx: Tx<DB>, key: FolderKey, files: readonly FileWrite[]): Promise<void> {
  for (let at = 0; at < files.length; at += FILES_A_STATEMENT) {
    const some = files.slice(at, at + FILES_A_STATEMENT);
    const each = <T>(pick: (f: FileWrite) => T): T[] => some.map(pick);
    await sql`
      insert into stored_files (area, tenant, visibility, folder, path, size, mode, digest, content, blob_digest, modified_at)
      select ${key.area}, ${key.tenant}, ${visibilityOf(key)}, ${key.folder}, f.path, f.size, f.mode, f.digest, f.content,
        f.blob_digest, coalesce(f.modified, app_now())
      from unnest(
        ${each((f) => f.path)}::text[], ${each((f) => f.size)}::bigint[], ${each((f) => f.mode)}::int[],
        ${each((f) => f.digest)}::text[], ${each((f) => f.content)}::bytea[], ${each((f) => f.blobDigest)}::text[],
        ${each((f) => f.modified)}::timestamptz[]
      ) f (path, size, mode, digest, content, blob_digest, modified)
      on conflict (area, tenant, folder, path) do update set size = excluded.size, mode = excluded.mode,
        digest = excluded.digest, content = excluded.content, blob_digest = excluded.blob_digest,
        modified_at = excluded.modified_at, stored_at = app_now()`.execute(tx);
  }
}

const FILES_A_STATEMENT = 500;

/** Removes files that still have the content that the caller knows. */
export async function removeFiles(
  tx: Tx<DB>,
  key: FolderKey,
  files: readonly { path: string; digest: string }[],
): Promise<void> {
  await sql`
    delete from stored_files s using unnest(${files.map((f) => f.path)}::text[], ${files.map((f) => f.digest)}::text[])
      f (path, digest)
    where ${of(key)} and s.path = f.path and s.digest = f.digest`.execute(tx);
}

/** Removes the file `path`, or all files below a path that is empty or ends with a slash; returns their number. */
export async function removeBelow(tx: Tx<DB>, key: FolderKey, path: string): Promise<number> {
  const which =
    path === '' || path.endsWith('/')
      ? sql<boolean>`starts_with(path, ${path})`
      : sql<boolean>`path = ${path}`;
  const done = await sql`delete from stored_files where ${of(key)} and ${which}`.execute(tx);
  return Number(done.numAffectedRows ?? 0n);
}

/** Counts the files of the folder again; deletes the folder when it is empty. */
export async function countFolder(tx: Tx<DB>, key: FolderKey): Promise<{ files: number; bytes: number }> {
  const { rows } = await sql<{ files: number; bytes: number }>`
    update file_folders set files = c.files, bytes = c.bytes
    from (select count(*)::int as files, coalesce(sum(size), 0)::bigint as bytes from stored_files where ${of(key)}) c
    where ${of(key)} returning c.files, c.bytes`.execute(tx);
  const counted = rows[0] ?? { files: 0, bytes: 0 };
  if (counted.files === 0) await tx.deleteFrom('file_folders').where(of(key)).execute();
  return counted;
}

/** Removes the files that were stored until that time. */
export async function removeStoredUntil(tx: Tx<DB>, key: FolderKey, until: string): Promise<void> {
  await tx.deleteFrom('stored_files').where(of(key)).where('stored_at', '<=', until).execute();
}
