import type { Readable } from 'node:stream';
import { ArchiveRefused, type EntryKind } from './entry-rules';
import { readTar } from './read-tar';
import { readZip } from './read-zip';
import { type ArchiveKind, SNIFF_BYTES, sniffArchive } from './sniff';
import type { Spool } from './spool';

/** An entry before any rule was applied. */
export interface RawEntry {
  name: string;
  kind: EntryKind;
  /** Permission bits; 0 when unknown. */
  mode: number;
  /** Target of a link; null for zip, where the content says it. */
  link: string | null;
  content: (() => Promise<Readable>) | null;
}

/** What `archive` is. @throws ArchiveRefused when it is no zip, tar, tar.gz or tar.bz2 */
export async function archiveKind(archive: Spool): Promise<ArchiveKind> {
  const kind = sniffArchive(await archive.head(SNIFF_BYTES));
  if (kind === null) {
    throw new ArchiveRefused({
      message: 'the upload is not an archive that is known here',
      expected: 'zip, tar, tar.gz or tar.bz2',
    });
  }
  return kind;
}

/** Entries of `archive` as they lie in it. */
export function readEntries(archive: Spool, kind: ArchiveKind): AsyncGenerator<RawEntry> {
  return kind === 'zip' ? readZip(archive) : readTar(archive, kind);
}
