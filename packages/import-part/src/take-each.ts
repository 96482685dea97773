import type { JsonObject } from '@baton/kernel';
import type { Fate, ImportContext, StagedRecord } from './importer';

/** A schema of zod, or anything that answers like one. */
export interface RecordSchema<T> {
  safeParse(
    value: unknown,
  ):
    | { success: true; data: T }
    | { success: false; error: { issues: { path: PropertyKey[]; message: string }[] } };
}

const LONGEST_SHOWN = 256;

/** What a report calls a record whose id cannot be trusted. */
function shownId(item: JsonObject, key: string): string {
  const id = item[key];
  return typeof id === 'string' && id !== '' ? id.slice(0, LONGEST_SHOWN) : '(without a name)';
}

/** The record cannot be taken over. `text` must not contain a value of the record that is secret. */
export const lost = (id: string, code: string, text: string): Fate => ({ id, fate: 'lost', code, text });

/**
 * Reads a batch and gives what is valid to `take`, which answers one fate for each. The fate of a record that the schema refuses is
 * `lost`; its text names the field and not the value.
 */
export async function takeValid<T>(
  records: readonly StagedRecord[],
  schema: RecordSchema<T>,
  key: string,
  take: (valid: readonly T[]) => Promise<Fate[]>,
): Promise<Fate[]> {
  const read = records.map(({ item }) => ({ item, parsed: schema.safeParse(item) }));
  const valid = read.flatMap(({ parsed }) => (parsed.success ? [parsed.data] : []));
  const fates = valid.length === 0 ? [] : await take(valid);
  let at = 0;
  return read.map(({ item, parsed }) => {
    if (parsed.success) return fates[at++]!;
    const { path, message } = parsed.error.issues[0]!;
    return lost(shownId(item, key), 'invalid', `${path.join('.') || 'record'}: ${message}`);
  });
}

/**
 * The fate of a record that meets an object with its name. `met` and `wanted` are texts of the contents that are compared, such as
 * canonical JSON.
 */
export function metFate(
  { options }: Pick<ImportContext, 'options'>,
  { id, met, isSame, what }: { id: string; met: string; isSame: boolean; what: string },
): Fate {
  if (isSame) return { id, fate: 'same', met };
  const told = { id, met, code: 'differs' };
  if (options.on_conflict === 'replace')
    return { ...told, fate: 'replaced', text: `${what} was here with other content` };
  if (options.on_conflict === 'skip')
    return { ...told, fate: 'skipped', text: `${what} is here with other content and stays` };
  return { ...told, fate: 'conflict', text: `${what} is here with other content` };
}
