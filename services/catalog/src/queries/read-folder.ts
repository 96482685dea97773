/** Reading folders that are written to (reference/rest-api.md 5.30). */
import type { ServedFile } from '@baton/http';
import { notFound } from '@baton/kernel';
import type { PackedFile } from '../archive/pack-folder';
import { checkEntryPath } from '../domain/entry-rules';
import { type FolderKey, INDEX_NAME } from '../domain/file-area';
import {
  findFolderVersion,
  findStoredFile,
  listStoredFiles,
  type StoredContent,
  type StoredFile,
} from '../store/stored-files.sql';
import { type FolderListing, inMemory, inStore, noFile, type ResourceDeps } from './read-resources';

/** The file at `path`, or what lies below a folder: a path that ends with a slash. @throws AppError not_found_error */
export async function readWritten(
  deps: ResourceDeps,
  key: FolderKey,
  path: string,
): Promise<ServedFile | FolderListing> {
  if (path === '' || path.endsWith('/')) return listWritten(deps, key, path);
  if (path.split('/').at(-1) === INDEX_NAME) return listWritten(deps, key, path.slice(0, -INDEX_NAME.length));
  const checked = checkEntryPath(path);
  const file = checked.ok ? await findStoredFile(deps.db.query, key, checked.value) : null;
  if (file === null) throw noFile(path);
  return servedFile(deps, file);
}

/** Bytes of a stored file. */
const servedFile = (deps: Pick<ResourceDeps, 'blobs'>, file: StoredContent): ServedFile =>
  file.content === null
    ? inStore(deps, file.path, file.size, file.digest, file.modified)
    : inMemory(file.path, file.content, file.modified);

/** Everything below a folder, to be packed. @throws AppError not_found_error */
export async function packedFiles(deps: ResourceDeps, key: FolderKey, path: string): Promise<PackedFile[]> {
  const { prefix, files } = await filesBelow(deps, key, path);
  return files.map((file) => ({
    path: file.path.slice(prefix.length),
    size: file.size,
    mode: file.mode,
    modifiedAt: file.modified,
    open: async () => {
      // As it was listed: one that was replaced meanwhile would not have the size that is written before it.
      const row = await findStoredFile(deps.db.query, key, file.path);
      if (row === null || row.digest !== file.digest) throw notFound('File', file.path);
      return servedFile(deps, row).open();
    },
  }));
}

async function listWritten(deps: ResourceDeps, key: FolderKey, path: string): Promise<FolderListing> {
  const { prefix, files } = await filesBelow(deps, key, path);
  return Object.fromEntries(files.map((file) => [file.path.slice(prefix.length), file.modified]));
}

/** The folder itself may be empty; one inside is there only with files in it. */
async function filesBelow(
  { db }: ResourceDeps,
  key: FolderKey,
  path: string,
): Promise<{ prefix: string; files: StoredFile[] }> {
  const checked = checkEntryPath(path);
  if (!checked.ok) throw noFile(path);
  const prefix = checked.value === '' ? '' : `${checked.value}/`;
  const files = await listStoredFiles(db.query, key, prefix);
  if (files.length === 0 && prefix !== '') throw noFile(path);
  return { prefix, files };
}

/** Every file of a folder, by path. */
export const filesOfFolder = ({ db }: Pick<ResourceDeps, 'db'>, key: FolderKey): Promise<StoredFile[]> =>
  listStoredFiles(db.query, key, '');

/** The version of a folder ('': it was never written to), and its files where that is not the known one. */
export async function folderSince(
  deps: Pick<ResourceDeps, 'db'>,
  key: FolderKey,
  knownVersion: string,
): Promise<{ version: string; isChanged: boolean; files: StoredFile[] }> {
  const version = (await findFolderVersion(deps.db.query, key)) ?? '';
  const isChanged = version !== knownVersion;
  // A write between the two reads: the files are newer than the version, which then differs again next time.
  return { version, isChanged, files: isChanged && version !== '' ? await filesOfFolder(deps, key) : [] };
}

/** A file of a folder with that content. @throws AppError not_found_error, also when it has other content by now */
export async function storedFile(
  { db }: Pick<ResourceDeps, 'db'>,
  key: FolderKey,
  { path, digest }: { path: string; digest: string },
): Promise<StoredContent> {
  const file = await findStoredFile(db.query, key, path);
  if (file === null || file.digest !== digest) throw notFound('File', path);
  return file;
}
