import type { RecordType } from '@baton/cloudify-archive';
import type { ClientOf } from '../layer/declared-client';
import { SHOWN } from './archive-items';
import type { VerifyOptions } from './verifier';

const LINES = 10_000;
const kindOfType = (type: string): string => SHOWN[type as RecordType]?.what ?? type;

/**
 * Reads the report of an import. The result tells why an object is not here; what the report calls imported or the same it does not
 * explain.
 */
export async function reportReasons(
  client: ClientOf<'readImportReport'>,
  importId: string,
): Promise<NonNullable<VerifyOptions['reasonOf']>> {
  const reasons = new Map<string, string>();
  for (let offset = 0; ; offset += LINES) {
    const { items } = await client.call('readImportReport', {
      params: { import_id: importId },
      query: { kind: 'fate', _offset: offset, _size: LINES },
    });
    for (const { type = '', tenant = '', id = '', fate, code = '', text } of items)
      if (fate === 'lost' || fate === 'skipped')
        reasons.set(at(kindOfType(type), tenant, id), `The report of the import says so: ${code}: ${text}`);
    if (items.length < LINES) break;
  }
  return (what, tenant, id) => reasons.get(at(what, tenant ?? '', id)) ?? null;
}

const at = (what: string, tenant: string, id: string): string => `${what} ${tenant} ${id}`;
