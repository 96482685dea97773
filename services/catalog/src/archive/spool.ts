/** A readable copy of an archive: in memory while it is small, otherwise in a temporary file that `dispose` removes. */

import { once } from 'node:events';
import { createReadStream, createWriteStream } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { makeTemporaryFolder, type TemporaryFolder } from '@baton/blob-store';
import { AppError, diskFailure } from '@baton/kernel';

export interface Spool {
  size: number;
  /** The whole content when it is small, otherwise null. */
  buffer: Buffer | null;
  /** Path of the temporary file; null when the content is in memory. */
  path: string | null;
  head(bytes: number): Promise<Buffer>;
  stream(): Readable;
  dispose(): Promise<void>;
}

const MEMORY_BYTES = 1024 * 1024;

function tooLarge(maxBytes: number): AppError {
  return new AppError('payload_too_large_error', `The archive is larger than ${maxBytes} bytes`, {
    field: 'archive',
    expected: `at most ${maxBytes} bytes`,
  });
}

function inMemory(buffer: Buffer): Spool {
  return {
    size: buffer.length,
    buffer,
    path: null,
    head: async (bytes) => buffer.subarray(0, bytes),
    stream: () => Readable.from([buffer], { objectMode: false }),
    dispose: async () => undefined,
  };
}

function onDisk(folder: TemporaryFolder, path: string, size: number): Spool {
  return {
    size,
    path,
    buffer: null,
    head: async (bytes) => {
      const file = await open(path);
      try {
        const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
        return buffer.subarray(0, bytesRead);
      } finally {
        await file.close();
      }
    },
    stream: () => createReadStream(path),
    dispose: () => folder.remove(),
  };
}

/**
 * Reads `source` to its end. After a crash at most a temporary folder remains, which the loop temporary-sweep removes.
 * @throws AppError payload_too_large_error beyond `maxBytes`; bad_parameters_error when the sender breaks off;
 * insufficient_storage_error or service_unavailable_error for errors of the disk.
 */
export async function spool(source: AsyncIterable<Buffer | Uint8Array>, maxBytes: number): Promise<Spool> {
  const chunks: Buffer[] = [];
  let size = 0;
  let folder: TemporaryFolder | null = null;
  let failed: Error | null = null;
  let file: ReturnType<typeof createWriteStream> | null = null;
  try {
    for await (const piece of source) {
      const chunk = Buffer.isBuffer(piece) ? piece : Buffer.from(piece);
      size += chunk.length;
      if (size > maxBytes) throw tooLarge(maxBytes);
      if (file === null && size > MEMORY_BYTES) {
        folder = await makeTemporaryFolder();
        file = createWriteStream(join(folder.path, 'archive'), { mode: 0o600 });
        // A stream that fails between two writes reports it only by this event.
        file.on('error', (error) => (failed ??= error));
        await write(file, Buffer.concat(chunks));
        chunks.length = 0;
      }
      if (failed !== null) throw failed;
      if (file === null) chunks.push(chunk);
      else await write(file, chunk);
    }
    if (file === null || folder === null) return inMemory(Buffer.concat(chunks));
    await finished(file);
    if (failed !== null) throw failed;
    return onDisk(folder, join(folder.path, 'archive'), size);
  } catch (error) {
    file?.destroy();
    await folder?.remove();
    if (isBrokenOff(error))
      throw new AppError(
        'bad_parameters_error',
        'The body broke off',
        { field: 'archive' },
        { cause: error },
      );
    throw diskFailure(error, 'uploads') ?? error;
  }
}

/** Writes a chunk. @throws errors of the disk: `once` rejects on the event `error` too. */
async function write(file: ReturnType<typeof createWriteStream>, chunk: Buffer): Promise<void> {
  if (!file.write(chunk)) await once(file, 'drain');
}

async function finished(file: ReturnType<typeof createWriteStream>): Promise<void> {
  file.end();
  if (!file.closed) await once(file, 'close');
}

function isBrokenOff(error: unknown): boolean {
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'ECONNRESET' || code === 'ERR_STREAM_PREMATURE_CLOSE';
}
