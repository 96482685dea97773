import type { Readable } from 'node:stream';
import { Transform } from 'node:stream';
import { type Clock, diskFailure, isAppError } from '@baton/kernel';
import type { ArchiveLimits } from '../domain/archive-limits';
import { ArchiveRefused, createEntryJudge, type EntryJudge } from '../domain/entry-rules';
import { type Link, resolveLinks } from './links';
import type { RawEntry } from './raw-entry';
import { archiveKind, readEntries } from './read-entries';
import type { ArchiveKind } from './sniff';
import type { Spool } from './spool';
import type { UnpackedFile } from './unpacked-file';

/** Store of large files: catalog's blob store. */
export interface FileSink {
  put(stream: Readable): Promise<{ digest: string; size: number }>;
}

export interface Unpacked {
  kind: ArchiveKind;
  topFolder: string;
  files: UnpackedFile[];
}

/** Largest file that is stored in the table: by measurement, a blob of its own costs ten times as much as the row. */
export const INLINE_BYTES = 32 * 1024;
const MAX_LINK_BYTES = 4096;

/**
 * Unpacks an archive that must have exactly one top-level folder (reference/rest-api.md 5.1). No file is written under its name:
 * contents go to memory or to content-addressed blobs, so no name of an entry can reach outside.
 * @throws ArchiveRefused naming the entry.
 */
export async function unpackArchive(
  archive: Spool,
  limits: ArchiveLimits,
  sink: FileSink,
  clock: Clock,
): Promise<Unpacked> {
  const { kind, tops, files } = await unpackTree(archive, limits, sink, clock, '');
  return { kind, ...belowTop(onlyFolder(tops), files) };
}

/** Unpacks an archive unchanged, whatever its top level contains; rules as above. @throws ArchiveRefused naming the entry. */
export async function unpackFiles(
  archive: Spool,
  limits: ArchiveLimits,
  sink: FileSink,
  clock: Clock,
): Promise<UnpackedFile[]> {
  // Links must stay below a top folder: this is one that the archive itself does not have.
  const { files } = await unpackTree(archive, limits, sink, clock, 'files/');
  return belowTop('files', files).files;
}

const belowTop = (
  topFolder: string,
  files: readonly UnpackedFile[],
): { topFolder: string; files: UnpackedFile[] } => ({
  topFolder,
  files: files.map((f) => ({ ...f, path: f.path.slice(topFolder.length + 1) })),
});

interface Tree {
  kind: ArchiveKind;
  /** Names at the top level, and whether each is a folder. */
  tops: Map<string, boolean>;
  files: UnpackedFile[];
}

async function unpackTree(
  archive: Spool,
  limits: ArchiveLimits,
  sink: FileSink,
  clock: Clock,
  prefix: string,
): Promise<Tree> {
  const kind = await archiveKind(archive);
  const judge = createEntryJudge(archive.size, limits);
  const deadline = clock.monotonic() + limits.maxMs;
  const files = new Map<string, UnpackedFile>();
  const links: Link[] = [];
  const tops = new Map<string, boolean>();
  for await (const entry of readEntries(archive, kind)) {
    if (clock.monotonic() > deadline)
      throw new ArchiveRefused({
        message: `unpacking takes longer than ${limits.maxMs} ms`,
        entry: entry.name,
      });
    const admitted = judge.admit(entry);
    if (admitted === null) continue;
    const path = `${prefix}${admitted}`;
    const top = path.split('/', 1)[0]!;
    tops.set(top, tops.get(top) === true || path !== top || entry.kind === 'directory');
    if (entry.kind === 'directory') continue;
    if (entry.kind === 'file') files.set(path, await readFile(entry, path, judge, sink));
    else links.push(await readLink(entry, path, prefix, judge));
  }
  if (prefix === '') onlyFolder(tops);
  resolveLinks(files, links, limits.maxEntries, judge);
  return { kind, tops, files: [...files.values()] };
}

async function readLink(entry: RawEntry, path: string, prefix: string, judge: EntryJudge): Promise<Link> {
  const target = await readTarget(entry, judge);
  const isHard = entry.kind === 'hardlink';
  return { path, isHard, target: isHard ? `${prefix}${target.replace(/^(?:\.\/)+/, '')}` : target };
}

function onlyFolder(tops: Map<string, boolean>): string {
  const names = [...tops.keys()];
  const expected = 'exactly one top-level folder';
  if (names.length === 0)
    throw new ArchiveRefused({ message: 'the archive is empty', expected, isAboutTop: true });
  if (names.length > 1) {
    throw new ArchiveRefused({
      message: `the archive has ${names.length} entries at its top`,
      entry: names.slice(0, 5).join(', '),
      expected,
      isAboutTop: true,
    });
  }
  if (tops.get(names[0]!) !== true)
    throw new ArchiveRefused({
      message: 'the only entry of the archive is not a folder',
      entry: names[0]!,
      expected,
      isAboutTop: true,
    });
  return names[0]!;
}

async function readFile(
  entry: RawEntry,
  path: string,
  judge: EntryJudge,
  sink: FileSink,
): Promise<UnpackedFile> {
  const stream = await entry.content!();
  const base = { path, mode: entry.mode === 0 ? 0o644 : entry.mode, modifiedMs: entry.modifiedMs };
  const start: Buffer[] = [];
  let size = 0;
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      judge.count(next.value.length, entry.name);
      size += next.value.length;
      start.push(next.value);
      if (size > INLINE_BYTES)
        return { ...base, content: null, ...(await storeLarge(start, chunks, entry, judge, sink)) };
    }
  } catch (error) {
    if (error instanceof ArchiveRefused) throw error;
    // The blob store or the disk failed: the archive is not to blame.
    const platform = isAppError(error) ? error : diskFailure(error);
    if (platform) throw platform;
    throw new ArchiveRefused({
      message: `an entry cannot be read: ${(error as Error).message}`,
      entry: entry.name,
    });
  }
  return { ...base, size, content: Buffer.concat(start), blobDigest: null };
}

async function storeLarge(
  start: Buffer[],
  chunks: AsyncIterator<Buffer>,
  entry: RawEntry,
  judge: EntryJudge,
  sink: FileSink,
): Promise<{ size: number; blobDigest: string }> {
  async function* all(): AsyncGenerator<Buffer> {
    yield* start;
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      judge.count(next.value.length, entry.name);
      yield next.value;
    }
  }
  const { digest, size } = await sink.put(Transform.from(all()) as unknown as Readable);
  return { size, blobDigest: digest };
}

async function readTarget(entry: RawEntry, judge: EntryJudge): Promise<string> {
  if (entry.link !== null) return entry.link;
  const stream = await entry.content!();
  let text = '';
  for await (const chunk of stream) {
    judge.count((chunk as Buffer).length, entry.name);
    text += (chunk as Buffer).toString('utf8');
    if (text.length > MAX_LINK_BYTES)
      throw new ArchiveRefused({ message: 'a link has a target that is too long', entry: entry.name });
  }
  return text;
}
