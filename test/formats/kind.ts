import type { Json, StoredFormat } from '@baton/kernel';

/** One kind of stored document: how today's code writes and reads it. All of this is pure. */
export interface Kind {
  /** Folder of its samples in test/formats/corpus. */
  name: string;
  format: Pick<StoredFormat, 'written' | 'read'>;
  /** A small real document as today's writer stores it, always the same. */
  write: () => Json | Promise<Json>;
  /** What today's reader makes of a stored document. */
  read: (stored: Json) => Json | Promise<Json>;
  /** What of a stored document a writer may not change; absent: everything. Compressed bytes differ between versions of zlib. */
  comparable?: (stored: Json) => Json;
}

/** A file of the corpus holds a list of these. */
export interface Sample {
  stored: Json;
  /** What the reader made of it when it was recorded. */
  meaning: Json;
}

/** A value as JSON has it: no undefined, no classes. */
export const plain = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
