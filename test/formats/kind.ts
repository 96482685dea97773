import type { Json, StoredFormat } from '@baton/kernel';

/** One kind of stored document, with the current code that writes and reads it. All functions are pure. */
export interface Kind {
  /** Folder of the samples in test/formats/corpus. */
  name: string;
  format: Pick<StoredFormat, 'written' | 'read'>;
  /** Returns a small real document as the current writer stores it; always the same. */
  write: () => Json | Promise<Json>;
  /** Returns the result of the current reader for a stored document. */
  read: (stored: Json) => Json | Promise<Json>;
  /**
   * Returns the part of a stored document that a writer may not change; absent: everything. Compressed bytes differ between
   * versions of zlib.
   */
  comparable?: (stored: Json) => Json;
}

/** A file of the corpus contains a list of samples. */
export interface Sample {
  stored: Json;
  /** Result of the reader at the time of the recording. */
  meaning: Json;
}

/** Converts a value to plain JSON: no undefined, no classes. */
export const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
