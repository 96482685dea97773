import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';

/**
 * Bytes before the content of each blob of a file of an instance. They give every write a blob of its own: services that share the
 * blob store, and other tenants, never have the same one, so that its removal takes nothing from them.
 */
const SALT_BYTES = 16;

/** Puts fresh random bytes before `content`; `measured` tells size and SHA-256 of the content once it was read to its end. */
export function withSalt(content: AsyncIterable<Buffer | string>): {
  salted: Readable;
  measured(): { size: number; sha256: string };
} {
  const hash = createHash('sha256');
  let size = 0;
  async function* pieces(): AsyncGenerator<Buffer> {
    yield randomBytes(SALT_BYTES);
    for await (const piece of content) {
      const bytes = Buffer.from(piece as Buffer);
      size += bytes.length;
      hash.update(bytes);
      yield bytes;
    }
  }
  return {
    salted: Readable.from(pieces(), { objectMode: false }),
    measured: () => ({ size, sha256: hash.digest('hex') }),
  };
}

/** The content of such a blob. An error of the blob is an error of the returned stream. */
export function withoutSalt(blob: Readable): Readable {
  async function* pieces(): AsyncGenerator<Buffer> {
    let left = SALT_BYTES;
    for await (const piece of blob) {
      const bytes = Buffer.from(piece as Buffer);
      const skipped = Math.min(left, bytes.length);
      left -= skipped;
      if (bytes.length > skipped) yield bytes.subarray(skipped);
    }
  }
  return Readable.from(pieces(), { objectMode: false });
}

/** Size of the blob of a content of `bytes`. */
export const saltedSize = (bytes: number): number => bytes + SALT_BYTES;
