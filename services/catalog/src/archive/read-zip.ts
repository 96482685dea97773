import type { Readable } from 'node:stream';
import type { Entry, ZipFile } from 'yauzl';
import * as yauzl from 'yauzl';
import { ArchiveRefused, type EntryKind } from '../domain/entry-rules';
import type { RawEntry } from './raw-entry';
import type { Spool } from './spool';

/** Members that the type definitions of yauzl omit. */
type ZipEntry = Entry & { fileNameRaw: Buffer };
const { getFileNameLowLevel } = yauzl as unknown as {
  getFileNameLowLevel(
    flags: number,
    raw: Buffer,
    extraFields: Entry['extraFields'],
    isStrict: boolean,
  ): string;
};

const UNIX = 3;
/** File format bits of a Unix mode. */
const KINDS = new Map<number, EntryKind>([
  [0o100000, 'file'],
  [0o040000, 'directory'],
  [0o120000, 'symlink'],
]);

function openZip(archive: Spool): Promise<ZipFile> {
  // Names stay raw: the library's own check would refuse an odd name with its own error text.
  const options = { lazyEntries: true, autoClose: false, decodeStrings: false, validateEntrySizes: true };
  return new Promise((resolve, reject) => {
    const done = (error: Error | null, zip?: ZipFile): void =>
      error || !zip
        ? reject(
            new ArchiveRefused({
              message: `the zip archive cannot be read: ${error?.message ?? 'no entries'}`,
            }),
          )
        : resolve(zip);
    if (archive.buffer) yauzl.fromBuffer(archive.buffer, options, done);
    else yauzl.open(archive.path!, options, done);
  });
}

function kindOf(name: string, mode: number): EntryKind {
  if (/[/\\]$/.test(name)) return 'directory';
  const format = mode & 0o170000;
  return format === 0 ? 'file' : (KINDS.get(format) ?? 'other');
}

function nextEntry(zip: ZipFile): Promise<ZipEntry | null> {
  return new Promise((resolve, reject) => {
    const off = (): void => {
      zip.removeListener('entry', onEntry).removeListener('end', onEnd).removeListener('error', onError);
    };
    const onEntry = (entry: ZipEntry): void => {
      off();
      resolve(entry);
    };
    const onEnd = (): void => {
      off();
      resolve(null);
    };
    const onError = (error: Error): void => {
      off();
      reject(new ArchiveRefused({ message: `the zip archive is damaged: ${error.message}` }));
    };
    zip.on('entry', onEntry).on('end', onEnd).on('error', onError);
    zip.readEntry();
  });
}

function contentOf(zip: ZipFile, entry: ZipEntry, name: string): Promise<Readable> {
  return new Promise((resolve, reject) => {
    zip.openReadStream(entry, (error, stream) =>
      error || !stream
        ? reject(
            new ArchiveRefused({ message: `an entry cannot be read: ${error?.message ?? ''}`, entry: name }),
          )
        : resolve(stream),
    );
  });
}

/** Yields the entries of a zip in the order of its directory. Overlapping entries (a way to build zip bombs) are refused. */
export async function* readZip(archive: Spool): AsyncGenerator<RawEntry> {
  const zip = await openZip(archive);
  try {
    let compressed = 0;
    for (let entry = await nextEntry(zip); entry !== null; entry = await nextEntry(zip)) {
      const current = entry;
      const name = getFileNameLowLevel(
        current.generalPurposeBitFlag,
        current.fileNameRaw,
        current.extraFields,
        true,
      );
      if (current.isEncrypted()) throw new ArchiveRefused({ message: 'an entry is encrypted', entry: name });
      compressed += current.compressedSize;
      if (compressed > archive.size)
        throw new ArchiveRefused({ message: 'entries of the zip archive overlap', entry: name });
      const mode = current.versionMadeBy >> 8 === UNIX ? current.externalFileAttributes >>> 16 : 0;
      const kind = kindOf(name, mode);
      yield {
        name,
        kind,
        mode: mode & 0o777,
        // Times in a zip are in the time zone of the packer, which the zip does not name.
        modifiedMs: null,
        announcedBytes: current.uncompressedSize,
        link: null,
        content: kind === 'directory' ? null : () => contentOf(zip, current, name),
      };
    }
  } finally {
    zip.close();
  }
}
