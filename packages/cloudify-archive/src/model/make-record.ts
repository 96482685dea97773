import type { Place } from '../archive-refused';
import type { Note, ValueObject } from '../value';
import type { ArchiveRecord, Blob } from './record';
import { shapeItem } from './shape-item';
import type { Tally } from './tally';
import type { RecordType } from './types';

interface RawItem {
  type: RecordType;
  tenant: string | null;
  raw: ValueObject;
  notes: Note[];
  place: Place;
  blob: Blob | null;
}

/** Shapes and counts an item. Returns null where it is skipped as invalid. */
export function makeRecord(
  { type, tenant, raw, notes, place, blob }: RawItem,
  tally: Tally,
): ArchiveRecord | null {
  const shaped = shapeItem(type, raw);
  if ('problem' in shaped) {
    const where = { ...place, field: shaped.field };
    tally.skip({ type, tenant, reason: 'invalid', message: shaped.problem, place: where });
    return null;
  }
  const record = { type, tenant, ...shaped, notes, place, blob } as ArchiveRecord;
  tally.yielded(record);
  return record;
}
