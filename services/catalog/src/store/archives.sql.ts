/** Unpacked archives and the blobs of their files. */
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Unpacked } from '../archive/unpack';
import type { UnpackedFile } from '../archive/unpacked-file';
import type { DB } from './tables.gen';

type Reader = Db<DB>['query'] | Tx<DB>;

/** Stores the unpacked files of `digest`; does nothing when they are stored already. */
export async function insertArchive(
  tx: Tx<DB>,
  digest: string,
  size: number,
  unpacked: Unpacked,
): Promise<void> {
  const added = await tx
    .insertInto('archives')
    .values({ digest, size, kind: unpacked.kind, top_folder: unpacked.topFolder })
    .onConflict((c) => c.doNothing())
    .executeTakeFirst();
  if (Number(added.numInsertedOrUpdatedRows) === 0) return;
  for (let at = 0; at < unpacked.files.length; at += FILES_A_STATEMENT) {
    await insertFiles(tx, digest, unpacked.files.slice(at, at + FILES_A_STATEMENT));
  }
}

const FILES_A_STATEMENT = 500;

async function insertFiles(tx: Tx<DB>, digest: string, files: readonly UnpackedFile[]): Promise<void> {
  const of = <T>(pick: (f: UnpackedFile) => T): T[] => files.map(pick);
  await sql`
    insert into archive_files (archive_digest, path, size, mode, content, blob_digest)
    select ${digest}, f.* from unnest(
      ${of((f) => f.path)}::text[], ${of((f) => f.size)}::bigint[], ${of((f) => f.mode)}::int[],
      ${of((f) => f.content)}::bytea[], ${of((f) => f.blobDigest)}::text[]
    ) f`.execute(tx);
}

export interface FileRow {
  path: string;
  size: number;
  mode: number;
  content: Buffer | null;
  blob_digest: string | null;
}

export async function findFile(db: Reader, digest: string, path: string): Promise<FileRow | null> {
  const row = await db
    .selectFrom('archive_files')
    .select(['path', 'size', 'mode', 'content', 'blob_digest'])
    .where('archive_digest', '=', digest)
    .where('path', '=', path)
    .executeTakeFirst();
  return row ?? null;
}

/** Returns the paths of all files, without contents. */
export async function listPaths(db: Reader, digest: string): Promise<string[]> {
  const rows = await db
    .selectFrom('archive_files')
    .select('path')
    .where('archive_digest', '=', digest)
    .orderBy('path')
    .execute();
  return rows.map((r) => r.path);
}

export interface FolderRow {
  path: string;
  size: number;
  mode: number;
  unpacked_at: string;
}

/** Returns the files below a folder ('' = all), without contents. */
export async function listFolder(db: Reader, digest: string, folder: string): Promise<FolderRow[]> {
  return db
    .selectFrom('archive_files as f')
    .innerJoin('archives as a', 'a.digest', 'f.archive_digest')
    .select(['f.path', 'f.size', 'f.mode', 'a.unpacked_at'])
    .where('f.archive_digest', '=', digest)
    .where(sql<boolean>`starts_with(f.path, ${folder})`)
    .orderBy('f.path')
    .execute();
}

/** Marks blobs that a crash could leave behind; the sweep spares a blob that a row refers to. */
export async function noteLooseBlobs(db: Reader, digests: readonly string[]): Promise<void> {
  if (digests.length === 0) return;
  await sql`
    insert into loose_blobs (digest) select distinct unnest(${[...digests]}::text[])
    on conflict (digest) do update set since = excluded.since`.execute(db);
}

/**
 * Deletes archives that no blueprint has used for `graceMs` and marks their blobs; at most `limit`. The grace time covers an upload
 * between unpacking and the insert of its blueprint.
 */
export async function dropUnusedArchives(tx: Tx<DB>, graceMs: number, limit: number): Promise<number> {
  const { rows } = await sql<{ digest: string }>`
    select a.digest from archives a
    where a.unpacked_at < app_now() - ${graceMs}::float8 * interval '1 millisecond'
      and not exists (select 1 from blueprints b where b.archive_digest = a.digest)
    limit ${limit} for update skip locked`.execute(tx);
  const digests = rows.map((r) => r.digest);
  if (digests.length === 0) return 0;
  const files = await tx
    .selectFrom('archive_files')
    .select('blob_digest')
    .distinct()
    .where('archive_digest', 'in', digests)
    .execute();
  await noteLooseBlobs(tx, [
    ...digests,
    ...files.flatMap((f) => (f.blob_digest === null ? [] : [f.blob_digest])),
  ]);
  await tx.deleteFrom('archives').where('digest', 'in', digests).execute();
  return digests.length;
}

/** Takes loose blobs older than `graceMs` that nothing refers to; blobs with a reference lose their mark. */
export async function takeLooseBlobs(tx: Tx<DB>, graceMs: number, limit: number): Promise<string[]> {
  const { rows } = await sql<{ digest: string; is_used: boolean }>`
    select l.digest, exists (select 1 from archive_files f where f.blob_digest = l.digest)
      or exists (select 1 from blueprints b where b.archive_digest = l.digest)
      or exists (select 1 from stored_files s where s.blob_digest = l.digest)
      or exists (select 1 from import_blobs i where i.digest = l.digest)
      or exists (select 1 from plugins p where l.digest in (p.wagon_digest, p.archive_digest)) as is_used
    from loose_blobs l
    where l.since < app_now() - ${graceMs}::float8 * interval '1 millisecond'
    order by l.since limit ${limit} for update skip locked`.execute(tx);
  if (rows.length > 0)
    await tx
      .deleteFrom('loose_blobs')
      .where(
        'digest',
        'in',
        rows.map((r) => r.digest),
      )
      .execute();
  return rows.filter((r) => !r.is_used).map((r) => r.digest);
}

export type OpenBlob = (digest: string) => Promise<AsyncIterable<Buffer | Uint8Array | string>>;

/** Returns the whole content of a file, from its row or from its blob. */
export async function fileContent(
  file: Pick<FileRow, 'content' | 'blob_digest'>,
  openBlob: OpenBlob,
): Promise<Buffer> {
  if (file.content !== null) return file.content;
  const chunks: Buffer[] = [];
  for await (const chunk of await openBlob(file.blob_digest!)) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}

/** Returns the texts of the archive's YAML files up to `maxBytes` each. */
export async function listTexts(
  db: Reader,
  digest: string,
  maxBytes: number,
  openBlob: OpenBlob,
): Promise<Record<string, string>> {
  const rows = await db
    .selectFrom('archive_files')
    .select(['path', 'content', 'blob_digest'])
    .where('archive_digest', '=', digest)
    .where('size', '<=', maxBytes)
    .where(sql<boolean>`path ~* '\\.ya?ml$'`)
    .execute();
  const texts: Record<string, string> = {};
  for (const row of rows) texts[row.path] = (await fileContent(row, openBlob)).toString('utf8');
  return texts;
}

/** Marks a stored archive as about to be used, so that the sweep spares it; returns false when it does not exist. */
export async function touchArchive(db: Reader, digest: string): Promise<boolean> {
  const done = await sql`update archives set unpacked_at = app_now() where digest = ${digest}`.execute(db);
  return done.numAffectedRows === 1n;
}

export async function findArchive(
  db: Reader,
  digest: string,
): Promise<{ digest: string; size: number; kind: string; top_folder: string } | null> {
  const row = await db
    .selectFrom('archives')
    .select(['digest', 'size', 'kind', 'top_folder'])
    .where('digest', '=', digest)
    .executeTakeFirst();
  return row ?? null;
}
