import type { Readable } from 'node:stream';
import * as yauzl from 'yauzl';
import { checkedContent } from './checked-content';
import { checkEntry, DEFAULT_LIMITS, type ZipLimits } from './entry-check';
import type { RandomAccessSource } from './source';
import { SourceReader } from './source-reader';
import { ZipRefused } from './zip-refused';

export type { ZipLimits } from './entry-check';

export interface ZipEntry {
  /** Bytes as unpacked; the stream of the entry ends with an error where this is not true. */
  readonly size: number;
  readonly packedSize: number;
  readonly isFolder: boolean;
}

export interface ZipReader {
  /** By name, in the order of the central directory. Names of folders end with a slash. */
  readonly entries: ReadonlyMap<string, ZipEntry>;
  /**
   * Content of an entry. Several may be read at the same time.
   * @throws ZipRefused for a name that is not there, and in the stream for content that is not what was declared
   */
  read(name: string): Promise<Readable>;
  /** Closes the source as well. */
  close(): Promise<void>;
}

/**
 * What is kept of an entry of the directory: an archive may have a million. The entry of yauzl holds the bytes of its head, name and
 * comment as well.
 */
class KeptEntry implements ZipEntry {
  readonly size: number;
  readonly packedSize: number;
  readonly crc32: number;
  readonly #method: number;
  readonly #flags: number;
  readonly #at: number;

  constructor(
    entry: yauzl.Entry,
    readonly isFolder: boolean,
  ) {
    this.size = entry.uncompressedSize;
    this.packedSize = entry.compressedSize;
    this.crc32 = entry.crc32;
    this.#method = entry.compressionMethod;
    this.#flags = entry.generalPurposeBitFlag;
    this.#at = entry.relativeOffsetOfLocalHeader;
  }

  /** The entry as yauzl needs it to open the content. */
  entry(): yauzl.Entry {
    return Object.assign(new yauzl.Entry(), {
      uncompressedSize: this.size,
      compressedSize: this.packedSize,
      crc32: this.crc32,
      compressionMethod: this.#method,
      generalPurposeBitFlag: this.#flags,
      relativeOffsetOfLocalHeader: this.#at,
    });
  }
}

function openDirectory(source: RandomAccessSource): Promise<yauzl.ZipFile> {
  return new Promise((resolve, reject) =>
    yauzl.fromRandomAccessReader(
      new SourceReader(source),
      source.size,
      // Names are checked here, with better errors; `strictFileNames` keeps backslashes as they are.
      {
        lazyEntries: true,
        autoClose: false,
        validateEntrySizes: true,
        decodeStrings: true,
        strictFileNames: true,
      },
      (error, zip) =>
        error ? reject(new ZipRefused(`it cannot be read as a zip: ${error.message}`)) : resolve(zip!),
    ),
  );
}

function readDirectory(zip: yauzl.ZipFile, size: number, limits: ZipLimits): Promise<Map<string, KeptEntry>> {
  return new Promise((resolve, reject) => {
    const entries = new Map<string, KeptEntry>();
    let packed = 0;
    zip.on('entry', (entry: yauzl.Entry) => {
      try {
        checkEntry(entry, limits);
        packed += entry.compressedSize;
        if (entries.has(entry.fileName)) throw new ZipRefused('it is there twice', entry.fileName);
        if (entries.size >= limits.maxEntries)
          throw new ZipRefused(`there are too many entries: at most ${limits.maxEntries} are read`);
        if (packed > size) throw new ZipRefused('its entries overlap');
      } catch (error) {
        reject(error);
        return;
      }
      entries.set(entry.fileName, new KeptEntry(entry, entry.fileName.endsWith('/')));
      zip.readEntry();
    });
    zip.on('end', () => resolve(entries));
    zip.on('error', (error: Error) => reject(new ZipRefused(`it is damaged: ${error.message}`)));
    zip.readEntry();
  });
}

function contentOf(zip: yauzl.ZipFile, name: string, kept: KeptEntry | undefined): Promise<Readable> {
  if (!kept) return Promise.reject(new ZipRefused('it is not in the archive', name));
  return new Promise((resolve, reject) =>
    zip.openReadStream(kept.entry(), (error, stream) =>
      error
        ? reject(new ZipRefused(error.message, name))
        : resolve(checkedContent(stream!, { name, size: kept.size, crc32: kept.crc32 })),
    ),
  );
}

/**
 * Reads the central directory of the zip in `source` and checks every entry of it. The reader owns the source from now on,
 * also where this call fails.
 * @throws ZipRefused for what is no zip, is damaged, or holds an entry that is refused (see ZipLimits)
 */
export async function openZip(
  source: RandomAccessSource,
  limits: Partial<ZipLimits> = {},
): Promise<ZipReader> {
  try {
    const zip = await openDirectory(source);
    const directory = await readDirectory(zip, source.size, { ...DEFAULT_LIMITS, ...limits });
    return {
      entries: directory,
      read: (name) => contentOf(zip, name, directory.get(name)),
      close: () => source.close(),
    };
  } catch (error) {
    await source.close();
    throw error;
  }
}
