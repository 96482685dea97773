import type { Readable } from 'node:stream';
import { AppError } from '@baton/kernel';

export interface BlobStat {
  /** Bytes. */
  size: number;
}

/** First and last byte, both included. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredBlob {
  /** SHA-256 of the content, 64 hex digits: the name of the blob. */
  digest: string;
  size: number;
}

export interface ListedBlob extends StoredBlob {
  /** Time of the last `put`, by the clock of the store, in ms. A repeated `put` of the same content renews it. */
  modifiedMs: number;
}

/** Files stored by their content. Storing is idempotent; a blob exists completely or not at all. */
export interface BlobStore {
  /**
   * Stores the content of a stream; memory use does not depend on its size. Leaves nothing behind when it fails.
   * @throws AppError payload_too_large_error beyond `maxBytes`; the error of `content` when `content` fails.
   */
  put(content: Readable, options?: { maxBytes?: number }): Promise<StoredBlob>;
  /**
   * Opens the whole blob, or the bytes of `range`, which must lie in it. When the content has changed since it was put, the stream
   * fails with service_unavailable_error before its last byte. @throws AppError not_found_error.
   */
  open(digest: string, range?: ByteRange): Promise<Readable>;
  stat(digest: string): Promise<BlobStat | null>;
  /** Deletes a blob; does nothing when there is none. */
  delete(digest: string): Promise<void>;
  /** Lists all blobs in the order of their digests; with `after`, only those behind it. */
  list(after?: string): AsyncIterable<ListedBlob>;
  /** Removes unfinished files of processes that died, at most a minute after their death; returns their number. */
  sweep(): Promise<number>;
  /** @throws when the store cannot be used. */
  ping(): Promise<void>;
}

const DIGEST = /^[0-9a-f]{64}$/;

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** Refuses any other text, so that no text of a caller becomes part of a path. */
export function checkDigest(digest: string): string {
  if (!isDigest(digest)) throw blobNotFound(digest);
  return digest;
}

export function blobNotFound(digest: string): AppError {
  return new AppError('not_found_error', `No stored content ${digest}`, { kind: 'blob', id: digest });
}
