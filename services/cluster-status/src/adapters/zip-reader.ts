import type { Readable } from 'node:stream';
import { AppError } from '@baton/kernel';
import * as yauzl from 'yauzl';

export interface ZipReader {
  /** Sizes by entry name, in the order of the zip directory. */
  entries: ReadonlyMap<string, { size: number }>;
  read(name: string): Promise<Readable>;
  close(): void;
}

/**
 * Upper limit for the entries of an archive: more than the files and tables of any manager. Each entry takes some 200 bytes of
 * memory.
 */
const MAX_ENTRIES = 2_000_000;
const UNIX = 3;
const FORMAT = 0o170000;
const REGULAR = 0o100000;

export const archiveRefused = (message: string, details: Record<string, unknown> = {}): AppError =>
  new AppError('snapshot_action_error', `The archive of the snapshot is refused: ${message}`, details);

function open(path: string): Promise<yauzl.ZipFile> {
  return new Promise((resolve, reject) =>
    yauzl.open(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true }, (error, zip) =>
      error ? reject(archiveRefused(`it cannot be read as a zip: ${error.message}`)) : resolve(zip!),
    ),
  );
}

/** @throws AppError for an entry that no archive of Baton contains: link, encrypted, doubled or overlapping entry. */
function check(entry: yauzl.Entry, known: ReadonlyMap<string, unknown>): void {
  const refuse = (why: string) =>
    archiveRefused(`entry ${entry.fileName}: ${why}`, { entry: entry.fileName });
  if (entry.isEncrypted()) throw refuse('it is encrypted');
  const mode = entry.versionMadeBy >> 8 === UNIX ? entry.externalFileAttributes >>> 16 : 0;
  if ((mode & FORMAT) !== 0 && (mode & FORMAT) !== REGULAR) throw refuse('it is no regular file');
  if (known.has(entry.fileName)) throw refuse('it is there twice');
  if (known.size >= MAX_ENTRIES) throw refuse('there are too many entries');
}

function readDirectory(zip: yauzl.ZipFile): Promise<Map<string, yauzl.Entry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, yauzl.Entry>();
    let compressed = 0;
    zip.on('entry', (entry: yauzl.Entry) => {
      try {
        check(entry, entries);
        compressed += entry.compressedSize;
        if (compressed > zip.fileSize) throw archiveRefused('its entries overlap');
      } catch (error) {
        reject(error);
        return;
      }
      entries.set(entry.fileName, entry);
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', (error: Error) => reject(archiveRefused(`it is damaged: ${error.message}`)));
    zip.readEntry();
  });
}

/** Opens the zip at `path`; nothing is unpacked to disk. @throws AppError snapshot_action_error */
export async function openZip(path: string): Promise<ZipReader> {
  const zip = await open(path);
  try {
    const directory = await readDirectory(zip);
    return {
      entries: new Map(
        [...directory].map(([name, { uncompressedSize }]) => [name, { size: uncompressedSize }]),
      ),
      read: (name) =>
        new Promise((resolve, reject) =>
          zip.openReadStream(directory.get(name)!, (error, stream) =>
            error ? reject(archiveRefused(`entry ${name}: ${error.message}`)) : resolve(stream!),
          ),
        ),
      close: () => zip.close(),
    };
  } catch (error) {
    zip.close();
    throw error;
  }
}
