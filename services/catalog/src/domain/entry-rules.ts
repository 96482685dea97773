/**
 * Rules for the names and types of an archive's entries. Pure; the readers of zip and tar apply them before they read any content.
 */
import { err, ok, type Result } from '@baton/kernel';
import {
  type ArchiveLimits,
  MAX_PATH_DEPTH,
  MAX_PATH_LENGTH,
  MAX_SEGMENT_LENGTH,
  RATIO_FROM_BYTES,
} from './archive-limits';

export type EntryKind = 'file' | 'directory' | 'symlink' | 'hardlink' | 'other';

/** Reason why an archive is refused; `entry` is the name of the bad entry as the archive spells it. */
export interface ArchiveFault {
  message: string;
  entry?: string;
  expected?: string;
  /** The archive has not exactly one folder at its top. */
  isAboutTop?: boolean;
}

export class ArchiveRefused extends Error {
  constructor(readonly fault: ArchiveFault) {
    super(fault.entry === undefined ? fault.message : `${fault.message}: ${JSON.stringify(fault.entry)}`);
    this.name = 'ArchiveRefused';
  }
}

// Control characters, and characters that change the direction of the text.
const BAD_CHARACTERS = /[\u0000-\u001f\u007f\u202a-\u202e\u2066-\u2069]/;

/**
 * Returns the path of an entry with `/` between segments, without a leading `./` or trailing slash; '' for the root itself.
 * Backslashes also separate, because Windows tools write them; so every reader sees the same path.
 */
export function checkEntryPath(name: string): Result<string, ArchiveFault> {
  const refuse = (message: string): Result<string, ArchiveFault> =>
    err({ message, entry: name.slice(0, 300) });
  if (BAD_CHARACTERS.test(name)) return refuse('an entry has control characters in its name');
  if (name.length > MAX_PATH_LENGTH)
    return refuse(`an entry's path is longer than ${MAX_PATH_LENGTH} characters`);
  const unified = name.replaceAll('\\', '/');
  if (unified.startsWith('/')) return refuse('an entry has an absolute path');
  if (/^[A-Za-z]:/.test(unified)) return refuse('an entry names a drive');
  const segments = unified.split('/').filter((s) => s !== '' && s !== '.');
  if (segments.includes('..')) return refuse('an entry leads out of the archive');
  if (segments.some((s) => Buffer.byteLength(s) > MAX_SEGMENT_LENGTH))
    return refuse(`a name is longer than ${MAX_SEGMENT_LENGTH} bytes`);
  if (segments.length > MAX_PATH_DEPTH) return refuse(`an entry lies deeper than ${MAX_PATH_DEPTH} folders`);
  return ok(segments.join('/'));
}

/** Returns the target of a link at `path`, inside the archive's root; refuses a target outside of it. */
export function linkTarget(path: string, target: string): Result<string, ArchiveFault> {
  const fault = { message: 'a link leads out of the archive', entry: path };
  const unified = target.replaceAll('\\', '/');
  if (unified === '' || BAD_CHARACTERS.test(unified) || unified.startsWith('/') || /^[A-Za-z]:/.test(unified))
    return err(fault);
  const at = path.split('/').slice(0, -1);
  for (const segment of unified.split('/')) {
    if (segment === '' || segment === '.') continue;
    // The top folder is the root: a link must stay below it.
    if (segment === '..' && at.length <= 1) return err(fault);
    if (segment === '..') at.pop();
    else at.push(segment);
  }
  return ok(at.join('/'));
}

export interface Entry {
  name: string;
  kind: EntryKind;
  /** Unpacked size as the archive announces it: an entry that announces too much is refused before it is unpacked. */
  announcedBytes: number;
}

export interface EntryJudge {
  /** Returns the checked path, or null when the entry is to be skipped. @throws ArchiveRefused */
  admit(entry: Entry): string | null;
  /** Counts unpacked bytes of the current entry. @throws ArchiveRefused */
  count(bytes: number, name: string): void;
}

/** The path in composed Unicode, without dots and spaces at the end of its names: some systems read both spellings as one name. */
const plainPath = (path: string): string =>
  path
    .normalize('NFC')
    .split('/')
    .map((segment) => segment.replace(/[. ]+$/, ''))
    .join('/');

interface SeenEntry {
  path: string;
  isFolder: boolean;
}

/** Entries by the plain spelling of their path in lower case. */
type Seen = Map<string, SeenEntry[]>;

/**
 * Records `path`; folders may occur again, every other entry only once. Names that differ only in letter case are two names: whoever
 * writes them to a disk checks that it can hold both (packages/plugin-runtime, letter-case.ts). Two spellings of one plain path are
 * refused, because readers could disagree about which of them they show.
 */
function claim(seen: Seen, path: string, isFolder: boolean, name: string): void {
  const plain = plainPath(path);
  const key = plain.toLowerCase();
  const alike = seen.get(key) ?? [];
  const same = alike.find((other) => other.path === path);
  if (same) {
    if (same.isFolder && isFolder) return;
    throw new ArchiveRefused({ message: 'an entry occurs twice', entry: name });
  }
  const twin = alike.find((other) => plain !== path || plainPath(other.path) !== other.path);
  if (twin) {
    throw new ArchiveRefused({
      message: `an entry differs from "${twin.path}" only in its Unicode form, or in dots or spaces at the end of a name`,
      entry: name,
    });
  }
  seen.set(key, [...alike, { path, isFolder }]);
}

/** Returns the limit that the total of unpacked bytes exceeds, as a text; null when it exceeds none. */
function excess(total: number, archiveBytes: number, limits: ArchiveLimits): string | null {
  if (total > limits.maxTotalBytes) return `the archive holds more than ${limits.maxTotalBytes} bytes`;
  const isBomb = total > RATIO_FROM_BYTES && total > archiveBytes * limits.maxRatio;
  return isBomb ? `the archive unpacks to more than ${limits.maxRatio} times its size` : null;
}

/** Checks the entries of one archive in turn; remembers what it needs of the earlier ones. */
export function createEntryJudge(archiveBytes: number, limits: ArchiveLimits): EntryJudge {
  const seen: Seen = new Map();
  let entries = 0;
  let total = 0;
  const requireRoom = (bytes: number, name: string): void => {
    const message = excess(bytes, archiveBytes, limits);
    if (message !== null) throw new ArchiveRefused({ message, entry: name });
  };
  return {
    admit({ name, kind, announcedBytes }) {
      entries += 1;
      if (entries > limits.maxEntries) {
        const message = `the archive has more than ${limits.maxEntries} entries`;
        throw new ArchiveRefused({ message, entry: name, expected: `at most ${limits.maxEntries} entries` });
      }
      const checked = checkEntryPath(name);
      if (!checked.ok) throw new ArchiveRefused(checked.error);
      if (kind === 'other') {
        throw new ArchiveRefused({ message: 'an entry is neither file, folder nor link', entry: name });
      }
      const path = checked.value;
      if (path === '' || path === '__MACOSX' || path.startsWith('__MACOSX/')) return null;
      const segments = path.split('/');
      for (let i = 1; i < segments.length; i++) claim(seen, segments.slice(0, i).join('/'), true, name);
      claim(seen, path, kind === 'directory', name);
      if (kind === 'file') requireRoom(total + announcedBytes, name);
      return path;
    },
    count(bytes, name) {
      total += bytes;
      requireRoom(total, name);
    },
  };
}
