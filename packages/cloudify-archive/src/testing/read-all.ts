import { bufferSource } from '@baton/zip-reader';
import type { Limits } from '../limits';
import type { ArchiveRecord, Skipped } from '../model/record';
import type { Tally } from '../model/tally';
import { type Archive, openArchive } from '../open-archive';
import { type RecordOptions, records } from '../records';

/** An archive in memory. */
export const openBytes = (bytes: Buffer): Promise<Archive> => openArchive(bufferSource(bytes));

/** All records of an archive in memory, with what was skipped. */
export async function readAll(
  bytes: Buffer,
  options: RecordOptions & { limits?: Partial<Limits> } = {},
): Promise<{ records: ArchiveRecord[]; skipped: Skipped[]; tally: Tally }> {
  const archive = await openArchive(bufferSource(bytes), options.limits);
  try {
    const skipped: Skipped[] = [];
    const stream = records(archive, { ...options, onSkip: (one) => void skipped.push(one) });
    const all: ArchiveRecord[] = [];
    for await (const record of stream) all.push(record);
    return { records: all, skipped, tally: stream.tally };
  } finally {
    await archive.close();
  }
}
