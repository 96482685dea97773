/** Reads folders of the file server that clients and operations write to (reference/rest-api.md 5.30). */
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

/** Returns the file at `path`, or the list of a folder for a path that ends with a slash. @throws AppError not_found_error */
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

/** Returns a stored file with access to its bytes. */
const servedFile = (deps: Pick<ResourceDeps, 'blobs'>, file: StoredContent): ServedFile =>
  file.content === null
    ? inStore(deps, file.path, file.size, file.digest, file.modified)
    : inMemory(file.path, file.content, file.modified);

/** Returns all files below a folder, to be packed. @throws AppError not_found_error */
export async function packedFiles(deps: ResourceDeps, key: FolderKey, path: string): Promise<PackedFile[]> {
  const { prefix, files } = await filesBelow(deps, key, path);
  return files.map((file) => ({
    path: file.path.slice(prefix.length),
    size: file.size,
    mode: file.mode,
    modifiedAt: file.modified,
    open: async () => {
      // Only with the listed content: a file that was replaced meanwhile would not match the size that was already written.
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

/** Lists the files below a path. The folder itself may be empty; a subfolder exists only with files in it. */
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

/** Returns every file of a folder, by path. */
export const filesOfFolder = ({ db }: Pick<ResourceDeps, 'db'>, key: FolderKey): Promise<StoredFile[]> =>
  listStoredFiles(db.query, key, '');

/** Returns the version of a folder ('': it was never written to), and its files when that is not the known version. */
export async function folderSince(
  deps: Pick<ResourceDeps, 'db'>,
  key: FolderKey,
  knownVersion: string,
): Promise<{ version: string; isChanged: boolean; files: StoredFile[] }> {
  const version = (await findFolderVersion(deps.db.query, key)) ?? '';
  const isChanged = version !== knownVersion;
  // A write between the two reads: the files are then newer than the version, and the next call sees another version.
  return { version, isChanged, files: isChanged && version !== '' ? await filesOfFolder(deps, key) : [] };
}

/** Returns a file of a folder with the given content. @throws AppError not_found_error, also when its content has changed */
export async function storedFile(
  { db }: Pick<ResourceDeps, 'db'>,
  key: FolderKey,
  { path, digest }: { path: string; digest: string },
): Promise<StoredContent> {
  const file = await findStoredFile(db.query, key, path);
  if (file === null || file.digest !== digest) throw notFound('File', path);
  return file;
}
