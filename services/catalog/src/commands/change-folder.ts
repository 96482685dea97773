/** Writes and removes files of the file server. Each request is one transaction; the row of the folder is the lock of its files. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { BlobStore } from '@baton/blob-store';
import { notFound } from '@baton/kernel';
import { type Db, inbox } from '@baton/postgres';
import type { Spool } from '../archive/spool';
import { INLINE_BYTES } from '../archive/unpack';
import {
  checkRoom,
  checkSizes,
  checkTree,
  type FolderKey,
  type FolderLimits,
  storedPath,
} from '../domain/file-area';
import { requireStorage } from '../store/storage.sql';
import {
  countFolder,
  type FileWrite,
  findFolderVersion,
  listStoredFiles,
  lockFolder,
  removeBelow,
  removeFiles,
  removeStoredUntil,
  writeFiles,
} from '../store/stored-files.sql';
import type { DB } from '../store/tables.gen';
import { storeLoose } from './store-loose';

export interface FolderDeps {
  db: Db<DB>;
  blobs: BlobStore;
  folderLimits: FolderLimits;
  /** Most bytes that a tenant may keep; null: any number. */
  storageLimit: (tenant: string) => number | null;
}

export interface FolderChange {
  writes: readonly FileWrite[];
  /** Files to remove, each only if it still has this content. */
  removes?: readonly { path: string; digest: string }[];
  /** Id under which the change is done only once: a repetition does not change files that were written since. */
  requestId?: string;
}

/**
 * Writes and removes files, all or none; returns the folder's new version. A crash before the commit leaves blobs to the sweep; the
 * caller may repeat the call.
 * @throws AppError bad_parameters_error, conflict_error, payload_too_large_error
 */
export async function changeFolder(
  { db, folderLimits, storageLimit }: FolderDeps,
  key: FolderKey,
  { writes, removes = [], requestId }: FolderChange,
): Promise<string> {
  const byPath = new Map(writes.map((write) => [storedPath(write.path), write]));
  checkSizes(writes, folderLimits);
  return db.tx(async (tx) => {
    if (requestId !== undefined && !(await inbox.once(tx, 'change-folder', requestId)))
      return (await findFolderVersion(tx, key)) ?? '';
    const version = await lockFolder(tx, key);
    if (removes.length > 0) await removeFiles(tx, key, removes);
    const there = new Set((await listStoredFiles(tx, key, '')).map((file) => file.path));
    for (const path of byPath.keys()) there.add(path);
    checkTree(there, [...byPath.keys()]);
    await writeFiles(tx, key, [...byPath.values()]);
    const { files, bytes } = await countFolder(tx, key);
    if (writes.length > 0) {
      checkRoom(files, bytes, folderLimits);
      await requireStorage(tx, key.tenant, storageLimit(key.tenant));
    }
    return version;
  });
}

/** Removes a file; for a path that ends with a slash, or an empty path, all files below it. @throws AppError not_found_error */
export async function removeFromFolder({ db }: FolderDeps, key: FolderKey, path: string): Promise<void> {
  await db.tx(async (tx) => {
    await lockFolder(tx, key);
    const removed = await removeBelow(tx, key, path);
    // An empty folder itself is no error: it is empty afterwards.
    if (removed === 0 && path !== '') throw notFound('File', path);
    await countFolder(tx, key);
  });
}

/** Removes the files of a deleted deployment; files that a newer deployment of that name has written since stay. */
export async function dropDeploymentFolder(
  db: Db<DB>,
  tenant: string,
  deploymentId: string,
  deletedAt: string,
): Promise<void> {
  const key: FolderKey = { area: 'deployments', tenant, folder: deploymentId };
  await db.tx(async (tx) => {
    await lockFolder(tx, key);
    await removeStoredUntil(tx, key, deletedAt);
    await countFolder(tx, key);
  });
}

/** Stores the content of an upload: returned for its row when it is small, otherwise as a blob. */
export async function storeContent(
  deps: FolderDeps,
  file: Spool,
): Promise<Pick<FileWrite, 'size' | 'digest' | 'content' | 'blobDigest'>> {
  if (file.buffer !== null && file.size <= INLINE_BYTES) return inlineContent(file.buffer);
  const { digest, size } = await storeLoose(deps, file.stream());
  return { size, digest, content: null, blobDigest: digest };
}

/** Stores a part of a large file; the sweep removes it when no file is made of it. */
export async function storePiece(deps: FolderDeps, data: Uint8Array): Promise<string> {
  return (await storeLoose(deps, Readable.from([Buffer.from(data)], { objectMode: false }))).digest;
}

/** Joins content that was sent at once or in pieces. @throws AppError not_found_error when a piece was swept */
export async function joinContent(
  deps: FolderDeps,
  content: Uint8Array,
  pieces: readonly string[],
): Promise<Pick<FileWrite, 'size' | 'digest' | 'content' | 'blobDigest'>> {
  if (pieces.length === 0 && content.length <= INLINE_BYTES) return inlineContent(Buffer.from(content));
  async function* all(): AsyncGenerator<Buffer> {
    if (pieces.length === 0) yield Buffer.from(content);
    for (const piece of pieces) yield* (await deps.blobs.open(piece)) as AsyncIterable<Buffer>;
  }
  const { digest, size } = await storeLoose(deps, Readable.from(all(), { objectMode: false }), {
    maxBytes: deps.folderLimits.maxFileBytes,
  });
  return { size, digest, content: null, blobDigest: digest };
}

/** Returns the content fields of a small file, whose content is in its row. */
export function inlineContent(
  content: Buffer,
): Pick<FileWrite, 'size' | 'digest' | 'content' | 'blobDigest'> {
  const digest = createHash('sha256').update(content).digest('hex');
  return { size: content.length, digest, content, blobDigest: null };
}
