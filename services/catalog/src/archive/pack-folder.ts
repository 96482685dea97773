import { pipeline, type Readable } from 'node:stream';
import { createGzip } from 'node:zlib';
import { pack } from 'tar-stream';

export interface PackedFile {
  path: string;
  /** Bytes that `open` yields. */
  size: number;
  mode: number;
  /** ISO 8601. */
  modifiedAt: string;
  open(): Promise<Readable> | Readable;
}

/**
 * Returns a tar.gz of `files` that is made while it is read; one file is open at a time. The stream fails when a file cannot be
 * read.
 */
export function packFolder(files: readonly PackedFile[]): Readable {
  const tar = pack();
  const zipped = createGzip();
  // Errors reach the reader: the last stage is destroyed with them.
  pipeline(tar, zipped, () => undefined);
  fill(tar, files).then(
    () => tar.finalize(),
    (error: Error) => {
      tar.destroy(error);
      zipped.destroy(error);
    },
  );
  return zipped;
}

async function fill(tar: ReturnType<typeof pack>, files: readonly PackedFile[]): Promise<void> {
  for (const { path, size, mode, modifiedAt, open } of files) {
    const content = await open();
    await new Promise<void>((resolve, reject) => {
      const header = { name: path, size, mode, mtime: new Date(modifiedAt) };
      const entry = tar.entry(header, (error) => (error ? reject(error) : resolve()));
      pipeline(content, entry, (error) => {
        if (error) reject(error);
      });
    });
  }
}
