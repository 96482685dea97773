import { ArchiveRefused } from './archive-refused';
import { detect } from './detect';
import { type LegacyOptions, readLegacy } from './legacy/read-legacy';
import type { ArchiveRecord, Skipped } from './model/record';
import { Tally } from './model/tally';
import type { Archive } from './open-archive';
import { readPages } from './pages/read-pages';

/** Keys and roles are for legacy archives only: pages hold values in clear text and names of roles. */
export interface RecordOptions extends LegacyOptions {
  /** Hears of every object that is not yielded. */
  onSkip?: (skipped: Skipped) => void;
}

export interface RecordStream extends AsyncIterable<ArchiveRecord> {
  /** Counts of what was read; complete at the end of the records. */
  readonly tally: Tally;
}

/**
 * All objects of an archive in the order in which they are restored: those of the manager, then tenant by tenant. Objects that
 * cannot be used are counted and told to `onSkip`; the stream goes on after them. It may be read once.
 * @throws ArchiveRefused in the stream: layout for what is no snapshot; zip, json, copy or limit for damaged files
 */
export function records(archive: Archive, options: RecordOptions = {}): RecordStream {
  const tally = new Tally(options.onSkip);
  return { tally, [Symbol.asyncIterator]: () => read(archive, tally, options) };
}

async function* read(
  archive: Archive,
  tally: Tally,
  options: LegacyOptions,
): AsyncGenerator<ArchiveRecord, void, void> {
  const { layout, reasons } = await detect(archive);
  if (layout === 'unknown')
    throw new ArchiveRefused('layout', `it is no snapshot of Cloudify: ${reasons.join('; ')}`);
  if (layout === 'legacy') yield* readLegacy(archive, tally, options);
  else yield* readPages(archive, tally);
}
