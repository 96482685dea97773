import { type FileHandle, open } from 'node:fs/promises';

/** Bytes that can be read from any position. */
export interface RandomAccessSource {
  /** In bytes. */
  readonly size: number;
  /**
   * Returns `length` bytes that begin at `offset`.
   * @throws Error where the source ends before that, or cannot be read
   */
  read(offset: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

async function readFully(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length);
  let done = 0;
  while (done < length) {
    const { bytesRead } = await file.read(buffer, done, length - done, offset + done);
    if (bytesRead === 0) throw new Error(`the file ends at ${offset + done}, before ${offset + length}`);
    done += bytesRead;
  }
  return buffer;
}

/** A regular file. @throws Error (of the file system) where it cannot be opened */
export async function fileSource(path: string): Promise<RandomAccessSource> {
  const file = await open(path, 'r');
  try {
    const { size } = await file.stat();
    return {
      size,
      read: (offset, length) => readFully(file, offset, length),
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

/** Bytes in memory; they are not copied. */
export function bufferSource(bytes: Buffer): RandomAccessSource {
  return {
    size: bytes.length,
    read: (offset, length) =>
      offset + length > bytes.length
        ? Promise.reject(new Error(`the bytes end at ${bytes.length}, before ${offset + length}`))
        : Promise.resolve(bytes.subarray(offset, offset + length)),
    close: () => Promise.resolve(),
  };
}
