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
  /** When it was last put, by the clock of the store, in ms. Putting the same content again renews it. */
  modifiedMs: number;
}

/** Files by their content. Storing is idempotent; a blob is there completely or not at all. */
export interface BlobStore {
  /**
   * Stores what `content` yields; memory use does not depend on its size. Nothing is left behind when it fails.
   * @throws AppError payload_too_large_error beyond `maxBytes`; whatever `content` fails with.
   */
  put(content: Readable, options?: { maxBytes?: number }): Promise<StoredBlob>;
  /**
   * All of it, or the bytes of `range`, which must lie in it. Content that is no longer what was put fails with
   * service_unavailable_error before its last byte. @throws AppError not_found_error.
   */
  open(digest: string, range?: ByteRange): Promise<Readable>;
  stat(digest: string): Promise<BlobStat | null>;
  /** Nothing happens when there is no such blob. */
  delete(digest: string): Promise<void>;
  /** All blobs by digest, those after `after` when it is given. */
  list(after?: string): AsyncIterable<ListedBlob>;
  /** Removes what processes that died were putting, at most a minute after their death; answers how many. */
  sweep(): Promise<number>;
  /** @throws when the store cannot be used. */
  ping(): Promise<void>;
}

const DIGEST = /^[0-9a-f]{64}$/;

export function isDigest(text: string): boolean {
  return DIGEST.test(text);
}

/** Refuses anything else, so that no text of a caller becomes part of a path. */
export function checkDigest(digest: string): string {
  if (!isDigest(digest)) throw blobNotFound(digest);
  return digest;
}

export function blobNotFound(digest: string): AppError {
  return new AppError('not_found_error', `No stored content ${digest}`, { kind: 'blob', id: digest });
}
