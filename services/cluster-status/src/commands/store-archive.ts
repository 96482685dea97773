import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { withTemporaryFolder } from '@baton/blob-store';
import { AppError } from '@baton/kernel';
import { noteLooseArchive, type StoredArchive } from '../store/snapshots.sql';
import type { SnapshotDeps } from './snapshot-deps';

/**
 * Stores an archive. Its digest is noted before the blob is stored, so that the sweep finds a blob that no snapshot refers to. To
 * know the digest first, the content is spooled to a file.
 * @throws AppError payload_too_large_error
 */
export async function storeArchive(
  deps: Pick<SnapshotDeps, 'db' | 'blobs' | 'maxBytes'>,
  content: Readable | AsyncIterable<Buffer>,
): Promise<StoredArchive> {
  return await withTemporaryFolder(async (folder) => {
    const path = join(folder, randomUUID());
    const hash = createHash('sha256');
    let size = 0;
    const measure = new Transform({
      transform(piece: Buffer, _encoding, done) {
        size += piece.length;
        hash.update(piece);
        if (size > deps.maxBytes) done(tooLarge(deps.maxBytes));
        else done(null, piece);
      },
    });
    await pipeline(content, measure, createWriteStream(path, { mode: 0o600 }));
    const digest = hash.digest('hex');
    await noteLooseArchive(deps.db.query, digest, false);
    await deps.blobs.put(createReadStream(path));
    return { digest, size };
  });
}

const tooLarge = (maxBytes: number): AppError =>
  new AppError('payload_too_large_error', `The archive is larger than ${maxBytes} bytes`, {
    field: 'archive',
    expected: `at most ${maxBytes} bytes`,
  });
