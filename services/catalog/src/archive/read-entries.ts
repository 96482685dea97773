import { ArchiveRefused } from '../domain/entry-rules';
import type { RawEntry } from './raw-entry';
import { readTar } from './read-tar';
import { readZip } from './read-zip';
import { type ArchiveKind, SNIFF_BYTES, sniffArchive } from './sniff';
import type { Spool } from './spool';

/** Returns the kind of `archive`. @throws ArchiveRefused when it is no zip, tar, tar.gz or tar.bz2 */
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

/** Reads the entries of `archive` in their stored order. */
export function readEntries(archive: Spool, kind: ArchiveKind): AsyncGenerator<RawEntry> {
  return kind === 'zip' ? readZip(archive) : readTar(archive, kind);
}
