import type { ValueObject } from '../value';
import { shapeItem } from './shape-item';
import type { Item, RecordType } from './types';

/** Makes the reader of records of a type: it brings an item (null counts as empty) into its shape, or says what does not fit. */
export const recordReader =
  <T extends RecordType>(type: T) =>
  (item: object | null): { item: Item<T> } | { problem: string } =>
    shapeItem(type, (item ?? {}) as ValueObject);
