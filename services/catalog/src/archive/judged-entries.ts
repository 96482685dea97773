import type { Readable } from 'node:stream';
import type { Clock } from '@baton/kernel';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused, createEntryJudge } from '../domain/entry-rules';
import type { RawEntry } from './raw-entry';
import { archiveKind, readEntries } from './read-entries';
import type { Spool } from './spool';

/** A file of a plugin archive whose path has passed the rules. */
export interface JudgedFile {
  path: string;
  entry: RawEntry;
  content: () => AsyncGenerator<Buffer>;
}

const MAX_TEXT_BYTES = 4 * 1024 * 1024;

/**
 * Yields the files of an archive after applying the rules, without folders and skipped entries. `onLink` is called for each link.
 * @throws ArchiveRefused naming the entry
 */
export async function* judgedFiles(
  archive: Spool,
  limits: ArchiveLimits,
  clock: Clock,
  onLink: (entry: RawEntry) => void = () => undefined,
): AsyncGenerator<JudgedFile> {
  const judge = createEntryJudge(archive.size, limits);
  const deadline = clock.monotonic() + limits.maxMs;
  for await (const entry of readEntries(archive, await archiveKind(archive))) {
    if (clock.monotonic() > deadline)
      throw new ArchiveRefused({
        message: `reading takes longer than ${limits.maxMs} ms`,
        entry: entry.name,
      });
    const path = judge.admit(entry);
    if (path !== null && entry.kind !== 'file' && entry.kind !== 'directory') onLink(entry);
    const open = entry.content;
    if (path === null || open === null || entry.kind !== 'file') continue;
    const content = async function* (): AsyncGenerator<Buffer> {
      for await (const chunk of (await open()) as Readable) {
        judge.count((chunk as Buffer).length, entry.name);
        yield chunk as Buffer;
      }
    };
    yield { path, entry, content };
  }
}

/** @throws ArchiveRefused when the content has more than `maxBytes` */
export async function bytesOf(
  content: AsyncGenerator<Buffer>,
  name: string,
  what = 'a text file',
  maxBytes = MAX_TEXT_BYTES,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of content) {
    size += chunk.length;
    if (size > maxBytes)
      throw new ArchiveRefused({
        message: `${what} is too large`,
        entry: name,
        expected: `at most ${maxBytes} bytes`,
      });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** @throws ArchiveRefused when the file has more than 4 MiB */
export const textOf = async ({ content, entry }: JudgedFile): Promise<string> =>
  (await bytesOf(content(), entry.name)).toString('utf8');
