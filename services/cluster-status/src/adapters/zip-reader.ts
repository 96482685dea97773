import type { Readable } from 'node:stream';
import { AppError } from '@baton/kernel';
import { fileSource, openZip as openAnyZip, ZipRefused } from '@baton/zip-reader';

export interface ZipReader {
  /** Sizes by entry name, in the order of the zip directory. */
  entries: ReadonlyMap<string, { size: number }>;
  read(name: string): Promise<Readable>;
  close(): Promise<void>;
}

/** Upper limit for the entries of an archive: more than the files and tables of any manager. */
const MAX_ENTRIES = 2_000_000;

export const archiveRefused = (message: string, details: Record<string, unknown> = {}): AppError =>
  new AppError('snapshot_action_error', `The archive of the snapshot is refused: ${message}`, details);

const asRefused = (error: unknown): unknown =>
  error instanceof ZipRefused
    ? archiveRefused(error.message, error.entry === undefined ? {} : { entry: error.entry })
    : error;

/** Opens the zip at `path`; nothing is unpacked to disk. @throws AppError snapshot_action_error */
export async function openZip(path: string): Promise<ZipReader> {
  try {
    // Archives of Baton hold no folders. Rows of tables may compress better than a stranger's archive is allowed to.
    const zip = await openAnyZip(await fileSource(path), {
      maxEntries: MAX_ENTRIES,
      allowFolders: false,
      maxRatio: Number.POSITIVE_INFINITY,
    });
    return {
      entries: zip.entries,
      read: (name) =>
        zip.read(name).catch((error: unknown) => {
          throw asRefused(error);
        }),
      close: () => zip.close(),
    };
  } catch (error) {
    throw asRefused(error);
  }
}
