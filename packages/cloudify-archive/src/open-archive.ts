import type { Readable } from 'node:stream';
import {
  openZip,
  type RandomAccessSource,
  type ZipEntry,
  type ZipLimits,
  ZipRefused,
} from '@baton/zip-reader';
import { ArchiveRefused } from './archive-refused';
import { DEFAULT_LIMITS, type Limits } from './limits';

export interface Archive {
  /** By name, in the order of the central directory. Names of folders end with a slash. */
  readonly entries: ReadonlyMap<string, ZipEntry>;
  readonly limits: Limits;
  /** Content of an entry as a stream; it ends with ArchiveRefused zip where the content is not what was declared. */
  read(name: string): AsyncIterable<Buffer>;
  /** A small file as a whole. @throws ArchiveRefused zip or limit */
  readSmall(name: string): Promise<Buffer>;
  /** Closes the source as well. */
  close(): Promise<void>;
}

const refused = (error: unknown): unknown =>
  error instanceof ZipRefused
    ? new ArchiveRefused('zip', error.message, error.entry === undefined ? undefined : { file: error.entry })
    : error;

/**
 * Opens the archive of a snapshot. The archive owns the source from now on, also where this call fails. `limits` bounds the zip,
 * too: entries, sizes and compression.
 * @throws ArchiveRefused zip
 */
export async function openArchive(
  source: RandomAccessSource,
  limits: Partial<Limits & ZipLimits> = {},
): Promise<Archive> {
  const zip = await openZip(source, limits).catch((error: unknown) => {
    throw refused(error);
  });
  const bounds: Limits = { ...DEFAULT_LIMITS, ...limits };
  async function* read(name: string): AsyncGenerator<Buffer, void, void> {
    let content: Readable | undefined;
    try {
      content = await zip.read(name);
      for await (const piece of content) yield piece as Buffer;
    } catch (error) {
      throw refused(error);
    } finally {
      content?.destroy();
    }
  }
  return {
    entries: zip.entries,
    limits: bounds,
    read,
    async readSmall(name) {
      const size = zip.entries.get(name)?.size ?? 0;
      if (size > bounds.maxSmallFileBytes)
        throw new ArchiveRefused('limit', `it is larger than ${bounds.maxSmallFileBytes} bytes`, {
          file: name,
        });
      const pieces: Buffer[] = [];
      for await (const piece of read(name)) pieces.push(piece);
      return Buffer.concat(pieces);
    },
    close: () => zip.close(),
  };
}
