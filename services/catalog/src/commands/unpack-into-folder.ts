/** The files of an archive for a folder that is written to. */
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
  /** Of an archive that is unpacked into a folder. */
  extractLimits: ArchiveLimits;
}

/** `a/` and `b.txt` make `a/b.txt`, with or without the slash. */
export const inFolder = (folder: string, name: string): string =>
  folder === '' || folder.endsWith('/') ? `${folder}${name}` : `${folder}/${name}`;

/**
 * What is to be written below `folder`; blobs of a write that never happens go with the sweep.
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

/** Whether an empty folder takes them. @throws AppError bad_parameters_error, conflict_error, payload_too_large_error */
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
