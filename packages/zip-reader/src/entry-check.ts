import type { Entry } from 'yauzl';
import { ZipRefused } from './zip-refused';

export interface ZipLimits {
  /** Entries of the archive, folders included. Each takes some 200 bytes of memory. */
  maxEntries: number;
  /** Bytes of one name in UTF-8. */
  maxNameBytes: number;
  /** Bytes of one entry as unpacked. */
  maxEntryBytes: number;
  /** Unpacked bytes for each packed byte; asked of entries above `ratioFreeBytes` only. */
  maxRatio: number;
  /** Entries up to this unpacked size may have any ratio. */
  ratioFreeBytes: number;
  /** Whether entries of folders are allowed; without, they are refused. */
  allowFolders: boolean;
}

export const DEFAULT_LIMITS: ZipLimits = {
  maxEntries: 1_000_000,
  maxNameBytes: 4096,
  maxEntryBytes: 2 ** 40,
  maxRatio: 300,
  ratioFreeBytes: 64 * 2 ** 20,
  allowFolders: true,
};

const UNIX = 3;
const FORMAT = 0o170000;
const REGULAR = 0o100000;
const FOLDER = 0o040000;
const STORED = 0;
const DEFLATED = 8;
/** Deflate cannot do better: a directory that declares more lies. */
const DEFLATE_RATIO = 1032;
const CONTROL = /[\u0000-\u001f\u007f]/;

/** Why a name is refused; null for a name that stays below the folder of the archive. */
function nameFault(name: string, limits: ZipLimits): string | null {
  if (name.length === 0) return 'it has no name';
  if (Buffer.byteLength(name) > limits.maxNameBytes) return `its name exceeds ${limits.maxNameBytes} bytes`;
  if (name.includes('\\')) return 'its name contains a backslash';
  if (CONTROL.test(name)) return 'its name contains a control character';
  if (name.startsWith('/') || /^[a-zA-Z]:/.test(name)) return 'its name is absolute';
  const parts = name.replace(/\/$/, '').split('/');
  if (parts.some((part) => part === '..' || part === '.' || part === ''))
    return 'its name has a part that is empty, . or ..';
  return null;
}

function kindFault(entry: Entry, isFolder: boolean, limits: ZipLimits): string | null {
  if (entry.isEncrypted()) return 'it is encrypted';
  const format = entry.versionMadeBy >> 8 === UNIX ? (entry.externalFileAttributes >>> 16) & FORMAT : 0;
  const expected = isFolder ? FOLDER : REGULAR;
  if ((isFolder && !limits.allowFolders) || (format !== 0 && format !== expected))
    return 'it is no regular file';
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED)
    return `its compression method ${entry.compressionMethod} is not known; expected 0 (stored) or 8 (deflate)`;
  return null;
}

function sizeFault(entry: Entry, isFolder: boolean, limits: ZipLimits): string | null {
  const { compressedSize: packed, uncompressedSize: size } = entry;
  if (isFolder && size > 0) return 'it is a folder with content';
  if (size > limits.maxEntryBytes) return `it declares ${size} bytes, more than ${limits.maxEntryBytes}`;
  const ratio = size <= limits.ratioFreeBytes ? DEFLATE_RATIO : limits.maxRatio;
  // A few bytes of overhead make the ratio of tiny entries meaningless.
  if (size > (packed + 64) * ratio)
    return `it declares ${size} bytes from ${packed}, more than ${ratio} to one`;
  return null;
}

/** @throws ZipRefused for an entry that no archive of a manager contains */
export function checkEntry(entry: Entry, limits: ZipLimits): void {
  const name = entry.fileName;
  const isFolder = name.endsWith('/');
  const fault =
    nameFault(name, limits) ?? kindFault(entry, isFolder, limits) ?? sizeFault(entry, isFolder, limits);
  // A hostile name may be long and hold anything: only a printable beginning is told.
  if (fault) throw new ZipRefused(fault, JSON.stringify(name.slice(0, 200)).slice(1, -1));
}
