import { createReadStream, createWriteStream } from 'node:fs';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { nearestName } from '@baton/kernel';
import { extract } from 'tar-stream';
import { type Entry, open, type ZipFile } from 'yauzl';
import { FatalError } from '../errors';

/** Kinds of archives, by the end of an address. */
export type ArchiveKind = 'zip' | 'tar.gz';

/** Longest program. */
const MAX_BYTES = 1024 * 1024 * 1024;
const MAX_ENTRIES = 10_000;

/** The kind of archive behind an address; null: the file is the program itself. */
export function archiveKindOf(url: string): ArchiveKind | null {
  const { pathname } = new URL(url);
  if (pathname.endsWith('.zip')) return 'zip';
  return /\.(tar\.gz|tgz)$/.test(pathname) ? 'tar.gz' : null;
}

/**
 * Takes one file out of an archive, by its exact name there. Nothing else is written, so no name or link in the archive leads anywhere.
 * @throws FatalError when it is not there (with the nearest name), is no file, or is too large
 */
export async function takeOut(archive: string, kind: ArchiveKind, name: string, to: string): Promise<void> {
  const names = kind === 'zip' ? await fromZip(archive, name, to) : await fromTar(archive, name, to);
  if (names === null) return;
  const nearest = nearestName(name, names) ?? names[0] ?? 'nothing';
  throw new FatalError(`the archive has no file ${name}; the nearest is ${nearest.slice(0, 200)}`);
}

const writeProgram = async (from: Readable, to: string): Promise<void> => {
  let bytes = 0;
  const counted = new Transform({
    transform(piece: Buffer, _encoding, done) {
      bytes += piece.length;
      if (bytes > MAX_BYTES) done(new FatalError(`the program is longer than ${MAX_BYTES} bytes`));
      else done(null, piece);
    },
  });
  await pipeline(from, counted, createWriteStream(to, { mode: 0o500, flags: 'wx' }));
};

/** Null: written; else the names in the archive. */
async function fromTar(archive: string, name: string, to: string): Promise<string[] | null> {
  const reader = extract();
  const names: string[] = [];
  const source = createReadStream(archive);
  const unpacked = createGunzip();
  const piped = pipeline(source, unpacked, reader).catch(
    (error: unknown) => void reader.destroy(error as Error),
  );
  let isWritten = false;
  try {
    for await (const entry of reader) {
      const { name: given, type } = entry.header;
      names.push(given);
      if (names.length > MAX_ENTRIES)
        throw new FatalError(`the archive has more than ${MAX_ENTRIES} entries`);
      if (given.replace(/^\.\//, '') === name && type === 'file') {
        await writeProgram(Readable.from(entry), to);
        isWritten = true;
        break;
      }
      entry.resume();
    }
  } catch (cause) {
    throw cause instanceof FatalError ? cause : unreadable(cause);
  } finally {
    source.destroy();
    await piped;
  }
  return isWritten ? null : names;
}

async function fromZip(archive: string, name: string, to: string): Promise<string[] | null> {
  const zip = await new Promise<ZipFile>((resolve, reject) =>
    open(archive, { lazyEntries: true, autoClose: false }, (error, opened) =>
      error ? reject(unreadable(error)) : resolve(opened as ZipFile),
    ),
  );
  try {
    const names: string[] = [];
    const wanted = await new Promise<Entry | null>((resolve, reject) => {
      zip.on('error', (error: Error) => reject(unreadable(error)));
      zip.on('end', () => resolve(null));
      zip.on('entry', (entry: Entry) => {
        names.push(entry.fileName);
        if (names.length > MAX_ENTRIES)
          reject(new FatalError(`the archive has more than ${MAX_ENTRIES} entries`));
        else if (entry.fileName === name && isFile(entry)) resolve(entry);
        else zip.readEntry();
      });
      zip.readEntry();
    });
    if (wanted === null) return names;
    const stream = await new Promise<Readable>((resolve, reject) =>
      zip.openReadStream(wanted, (error, opened) =>
        error ? reject(unreadable(error)) : resolve(opened as Readable),
      ),
    );
    await writeProgram(stream, to);
    return null;
  } finally {
    zip.close();
  }
}

/** A link of Unix has its kind in the upper half of the attributes. */
const isFile = ({ externalFileAttributes }: Entry): boolean => {
  const kind = (externalFileAttributes >>> 16) & 0o170000;
  return kind === 0 || kind === 0o100000;
};

const unreadable = (cause: unknown): FatalError =>
  new FatalError(`the archive cannot be read: ${(cause as Error).message}`, { cause });
