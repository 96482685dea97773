import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { PassThrough, type Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/**
 * Compression level. Tables compress well at the fastest level, which costs little CPU time; blobs are compressed archives
 * already.
 */
const FAST = 1;

export interface ZipWriter {
  /** Writes one entry to its end before the next may begin: no content is held in memory. */
  add(name: string, content: Readable, isCompressed: boolean): Promise<void>;
  /** Opens an entry that is written piece by piece; `end` resolves when the entry is written. */
  open(name: string): { write(bytes: Buffer): Promise<void>; end(): Promise<void> };
  finish(): Promise<void>;
  /** Stops writing; the caller must remove the file. */
  abort(error: Error): void;
}

/** Creates a zip file at `path` and writes entries as they arrive. Only the directory of names is kept in memory. */
export function createZipWriter(path: string): ZipWriter {
  const zip = new ZipFile();
  const file = createWriteStream(path, { mode: 0o600 });
  const written = pipeline(zip.outputStream as Readable, file);
  // The callers that wait get this error; without the handler, a failure between two calls would end the process.
  written.catch(() => undefined);
  const failed = written.then(
    () => new Promise<never>(() => undefined),
    (error: unknown) => Promise.reject(error),
  );
  failed.catch(() => undefined);
  const begin = (name: string, isCompressed: boolean): PassThrough => {
    const through = new PassThrough();
    zip.addReadStream(through, name, {
      compressionLevel: isCompressed ? FAST : 0,
      mtime: new Date(0),
    } as never);
    return through;
  };
  const finished = (through: PassThrough) =>
    Promise.race([once(through, 'end'), failed]).then(() => undefined);
  return {
    async add(name, content, isCompressed) {
      const through = begin(name, isCompressed);
      const read = finished(through);
      read.catch(() => undefined);
      await Promise.race([pipeline(content, through), failed]);
      await read;
    },
    open(name) {
      const through = begin(name, true);
      const read = finished(through);
      read.catch(() => undefined);
      return {
        async write(bytes) {
          if (!through.write(bytes)) await Promise.race([once(through, 'drain'), failed]);
        },
        async end() {
          through.end();
          await read;
        },
      };
    },
    async finish() {
      zip.end();
      await written;
    },
    abort: (error) => {
      file.destroy(error);
    },
  };
}
