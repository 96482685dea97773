import type { Readable } from 'node:stream';
import { ZipFile } from 'yazl';
import type { PackedFile } from './pack-folder';

/** Method that the type definitions omit: the stream is opened only when its turn comes. */
interface LazyZip {
  addReadStreamLazy(
    path: string,
    options: { mtime: Date; mode: number; size: number },
    open: (done: (error: Error | null, stream?: Readable) => void) => void,
  ): void;
}

/**
 * Returns a zip of `files` that is made while it is read; one file is open at a time. The stream fails when a file cannot be read.
 */
export function zipFolder(files: readonly PackedFile[]): Readable {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  zip.on('error', (error: Error) => output.destroy(error));
  for (const { path, size, mode, modifiedAt, open } of files) {
    const options = { mtime: new Date(modifiedAt), mode: 0o100000 | mode, size };
    (zip as unknown as LazyZip).addReadStreamLazy(path, options, (done) => {
      Promise.resolve(open()).then(
        (stream) => done(null, stream),
        (error: Error) => done(error),
      );
    });
  }
  zip.end();
  return output;
}
