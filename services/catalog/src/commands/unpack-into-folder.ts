/** Unpacks an archive into files for a folder of the file server. */
import { badParameter, type Clock, isoInstant } from '@baton/kernel';
import type { Spool } from '../archive/spool';
import { unpackFiles } from '../archive/unpack';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused } from '../domain/entry-rules';
import { checkRoom, checkSizes, checkTree, storedPath } from '../domain/file-area';
import type { FileWrite } from '../store/stored-files.sql';
import { type FolderDeps, inlineContent } from './change-folder';
import { storeLoose } from './store-loose';

export interface UnpackDeps extends FolderDeps {
  clock: Clock;
  /** Limits of an archive that is unpacked into a folder. */
  extractLimits: ArchiveLimits;
}

/** Joins `a/` and `b.txt` to `a/b.txt`, with or without the slash. */
export const inFolder = (folder: string, name: string): string =>
  folder === '' || folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;

/**
 * Returns the files to write below `folder`. When they are never written, the sweep removes their blobs.
 * @throws AppError bad_parameters_error naming the entry that is refused
 */
export async function unpackedFiles(deps: UnpackDeps, folder: string, archive: Spool): Promise<FileWrite[]> {
  const sink = { put: (stream: Parameters<typeof deps.blobs.put>[0]) => storeLoose(deps, stream) };
  try {
    const files = await unpackFiles(archive, deps.extractLimits, sink, deps.clock);
    return await Promise.all(
      files.map(async ({ path, size, mode, content, blobDigest, modifiedMs }) => ({
        path: inFolder(folder, path),
        size,
        mode,
        content,
        blobDigest,
        digest: blobDigest ?? inlineContent(content!).digest,
        modified: modifiedMs === null ? null : isoInstant(modifiedMs),
      })),
    );
  } catch (error) {
    if (error instanceof ArchiveRefused)
      throw badParameter('extract', error.message, { expected: error.fault.expected });
    throw error;
  }
}

/**
 * Checks that the files fit into an empty folder.
 * @throws AppError bad_parameters_error, conflict_error, payload_too_large_error
 */
export function checkFits(
  { folderLimits }: Pick<FolderDeps, 'folderLimits'>,
  writes: readonly FileWrite[],
): void {
  const paths = writes.map((write) => storedPath(write.path));
  checkTree(new Set(paths), paths);
  checkSizes(writes, folderLimits);
  const bytes = writes.reduce((sum, write) => sum + write.size, 0);
  if (writes.length > 0) checkRoom(writes.length, bytes, folderLimits);
}
