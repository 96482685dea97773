import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { AppError } from '@baton/kernel';
import { holdLease } from './lease';
import type { StoredBlob } from './port';
import { rm } from './remove';

/**
 * Writes `content` to the new file `path`, flushed to the disk, and computes its hash; removes the file when that fails.
 * @throws AppError payload_too_large_error as soon as `maxBytes` is exceeded; then `content` is destroyed.
 */
export async function spool(
  content: Readable,
  path: string,
  maxBytes = Number.POSITIVE_INFINITY,
): Promise<StoredBlob> {
  const hash = createHash('sha256');
  let size = 0;
  const file = await open(path, 'wx');
  const release = holdLease(path);
  try {
    // A throw inside the loop destroys the stream.
    for await (const piece of content) {
      const bytes: Buffer = typeof piece === 'string' ? Buffer.from(piece) : piece;
      size += bytes.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      hash.update(bytes);
      await writeAll(file, bytes);
    }
    await file.sync();
    // Some file systems report a full disk only here.
    await file.close();
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(path);
    throw error;
  } finally {
    release();
  }
  return { digest: hash.digest('hex'), size };
}

async function writeAll(
  file: { write(bytes: Buffer, offset: number): Promise<{ bytesWritten: number }> },
  bytes: Buffer,
): Promise<void> {
  for (let offset = 0; offset < bytes.length; ) {
    offset += (await file.write(bytes, offset)).bytesWritten;
  }
}

function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large_error', `The content is larger than ${maxBytes} bytes`, {
    maxBytes,
  });
}
