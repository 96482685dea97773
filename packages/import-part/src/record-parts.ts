import type { Visibility } from '@baton/contracts';
import type { Judgement, ReadRecord } from './record-importer';

/** Owner of objects whose archive names none. */
const NOBODY = 'admin';
export const ownerOf = (name: string | null): string => name ?? NOBODY;

/** Visibilities that an archive may have besides ours mean `tenant`. */
export const visibilityOf = (text: string): Visibility =>
  text === 'private' || text === 'global' ? text : 'tenant';

/**
 * JSON text of a list for `json_array_elements`: for each record what was computed (`c`) and the record as it came (`r`), whose parts
 * keep every digit.
 */
export function withLines<Item>(
  records: readonly ReadRecord<Item>[],
  computed: (item: Item, record: ReadRecord<Item>) => Record<string, unknown>,
): string {
  return `[${records
    .map((record) => `{"c":${JSON.stringify(computed(record.item, record))},"r":${record.line}}`)
    .join(',')}]`;
}

/** SQL expression of a member of the record in `x` of `withLines`, as json; null where it is absent or null. */
export const member = (name: string): string => `nullif((x->'r'->'item'->'${name}')::text, 'null')::json`;

/** The judgements of records by what each belongs to. */
export function judgedBy<Item>(
  records: readonly ReadRecord<Item>[],
  judge: (item: Item) => Judgement | null,
): Map<string, Judgement> {
  const judged = new Map<string, Judgement>();
  for (const { id, item } of records) {
    const judgement = judge(item);
    if (judgement) judged.set(id, judgement);
  }
  return judged;
}
