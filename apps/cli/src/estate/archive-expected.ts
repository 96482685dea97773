/** What an archive of the other manager says, for a comparison with this one. */
import { type ArchiveRecord, openArchive, placeText, records, type Skipped } from '@baton/cloudify-archive';
import { fileSource } from '@baton/zip-reader';
import { SHOWN, shownItem, UNSHOWN } from './archive-items';
import { type Expected, type Item, isOfManager } from './expected';
import { EVENTS, keyOf, kindOf } from './kinds';

export type { Skipped };

/** Reads an archive once. `onSkip` hears what the archive itself does not let anybody read. */
export async function* archiveExpected(
  path: string,
  onSkip: (skipped: Skipped) => void,
): AsyncGenerator<Expected> {
  const archive = await openArchive(await fileSource(path));
  const events = new Map<string, number>();
  try {
    for await (const record of records(archive, { onSkip })) {
      const { type, tenant } = record;
      if (type === 'events') events.set(tenant!, (events.get(tenant!) ?? 0) + 1);
      else if (UNSHOWN[type] === undefined && !isOfManager(record.item as unknown as Item))
        yield objectOf(record);
    }
  } finally {
    await archive.close();
  }
  for (const [tenant, total] of events) yield { kind: 'count', what: EVENTS, tenant, total, place: EVENTS };
}

function objectOf(record: ArchiveRecord): Expected {
  const shown = SHOWN[record.type];
  const kind = shown === undefined ? undefined : kindOf(shown.what);
  if (shown === undefined || kind === undefined) throw new Error(`no answer shows ${record.type}`);
  const item = shownItem(shown, record);
  return {
    kind: 'object',
    what: shown.what,
    tenant: record.tenant,
    id: keyOf(kind, item),
    item,
    place: placeText(record.place),
  };
}
