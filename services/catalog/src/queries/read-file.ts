/** Single files of unpacked archives, for workers and the file server. */
import type { BlobStore } from '@baton/blob-store';
import type { Db } from '@baton/postgres';
import { checkEntryPath } from '../domain/entry-rules';
import { type FileRow, type FolderRow, findFile, listFolder } from '../store/archives.sql';
import type { DB } from '../store/tables.gen';

export interface FileDeps {
  db: Db<DB>;
  blobs: BlobStore;
}

/** Returns the file at `path` of an archive; null when there is none, also for paths that lead out of the archive. */
export async function findArchiveFile(
  { db }: FileDeps,
  digest: string,
  path: string,
): Promise<FileRow | null> {
  const checked = checkEntryPath(path);
  return checked.ok && checked.value !== '' ? findFile(db.query, digest, checked.value) : null;
}

/**
 * Returns the files below the folder at `path` of an archive ('' = all) and the prefix of their paths; none for paths that lead out
 * of the archive.
 */
export async function listArchiveFolder(
  { db }: Pick<FileDeps, 'db'>,
  digest: string | null,
  path: string,
): Promise<{ prefix: string; files: FolderRow[] }> {
  const checked = checkEntryPath(path);
  if (digest === null || !checked.ok) return { prefix: '', files: [] };
  const prefix = checked.value === '' ? '' : `${checked.value}/`;
  return { prefix, files: await listFolder(db.query, digest, prefix) };
}

/** Yields the content of a file in pieces of at most `pieceBytes`. */
export async function* fileChunks(
  { blobs }: Pick<FileDeps, 'blobs'>,
  file: Pick<FileRow, 'content' | 'blob_digest'>,
  pieceBytes: number,
): AsyncGenerator<Buffer> {
  const source =
    file.content === null ? ((await blobs.open(file.blob_digest!)) as AsyncIterable<Buffer>) : [file.content];
  for await (const chunk of source) {
    for (let at = 0; at < chunk.length; at += pieceBytes) yield chunk.subarray(at, at + pieceBytes);
  }
}
