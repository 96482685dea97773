import { createHash } from 'node:crypto';
import { type Readable, Transform } from 'node:stream';
import { AppError } from '@baton/kernel';

/** The error for stored content that differs from its digest: the disk lost it, or somebody changed it. */
export function damaged(digest: string): AppError {
  return new AppError('service_unavailable_error', `Stored content ${digest} is damaged`, {
    kind: 'blob',
    id: digest,
    expected: 'the file as it was stored, from a backup',
  });
}

/**
 * Returns the same bytes, but holds the last piece back until the whole content matches `digest`: a reader never sees the end of
 * damaged content. The stream fails with `damaged` instead.
 */
export function verified(content: Readable, digest: string): Readable {
  const hash = createHash('sha256');
  let held: Buffer | null = null;
  const check = new Transform({
    transform(piece: Buffer, _encoding, done) {
      hash.update(piece);
      const before = held;
      held = piece;
      done(null, before ?? undefined);
    },
    flush(done) {
      if (hash.digest('hex') !== digest) return done(damaged(digest));
      done(null, held ?? undefined);
    },
  });
  content.on('error', (error) => check.destroy(error));
  check.on('close', () => content.destroy());
  return content.pipe(check);
}
