import { createWriteStream } from 'node:fs';
import { mkdir, realpath, rm, symlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { PassThrough, Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { FatalError } from '@baton/plugin-sdk';
import { extract } from 'tar-stream';
import { type Entry, fromBuffer, type ZipFile } from 'yauzl';
import { isInside, placeOf, shown } from './safe-path';

/** What an archive may become; more is refused while it is unpacked. */
export interface UnpackLimits {
  /** Bytes of all files together. */
  maxBytes: number;
  maxEntries: number;
}

const LIMITS: UnpackLimits = { maxBytes: 512 * 1024 * 1024, maxEntries: 20_000 };

const MODE_MASK = 0o777;
const FILE_TYPE = 0o170000;
const LINK = 0o120000;

/**
 * Unpacks a zip or a tar, also one with gzip, into an empty folder. Links that stay in the folder are made; nothing else but files and
 * folders is taken.
 * @throws FatalError for another kind of content, a name that leads out of the folder, or more than the limits
 */
export async function unpack(archive: Uint8Array, folder: string, limits = LIMITS): Promise<void> {
  const bytes = Buffer.from(archive.buffer, archive.byteOffset, archive.byteLength);
  const count = counter(limits);
  // Made after all files: nothing is ever written through a link.
  const links: Link[] = [];
  if (bytes.subarray(0, 2).toString('latin1') === 'PK') await unpackZip(bytes, folder, count, links);
  else await unpackTar(bytes, folder, count, links);
  for (const one of links) await makeLink(folder, one);
}

interface Link {
  name: string;
  target: string;
}

async function unpackTar(bytes: Buffer, folder: string, count: Counter, links: Link[]): Promise<void> {
  const isGzip = bytes[0] === 0x1f && bytes[1] === 0x8b;
  const isTar = bytes.subarray(257, 262).toString('latin1') === 'ustar';
  if (!isGzip && !isTar)
    throw new FatalError('the source of the module is neither a zip nor a tar nor a tar.gz');
  const tar = extract();
  const feeding = pipeline(Readable.from([bytes]), isGzip ? createGunzip() : new PassThrough(), tar);
  // Reported where the entries are read.
  feeding.catch(() => undefined);
  try {
    for await (const entry of tar) {
      const { name, type, mode, linkname } = entry.header;
      count.entry();
      if (type === 'directory') await mkdir(placeOf(folder, name), { recursive: true });
      else if (type === 'symlink') links.push({ name, target: linkname ?? '' });
      else if (type === 'file')
        await writeEntry(entry as unknown as Readable, placeOf(folder, name), mode ?? 0o644, count);
      // Of global headers there is nothing to write.
      else if ((type as string) !== 'pax-global-header')
        throw new FatalError(
          `the archive of the module holds ${shown(name)}, a ${type}; only files are taken`,
        );
      entry.resume();
    }
    await feeding;
  } catch (error) {
    throw readable(error);
  }
}

interface Counter {
  entry(): void;
  bytes(): Transform;
}

/** Counts what really comes out: sizes in an archive may be lies. */
function counter({ maxBytes, maxEntries }: UnpackLimits): Counter {
  let [entries, total] = [0, 0];
  return {
    entry: () => {
      if (++entries > maxEntries)
        throw new FatalError(`the source of the module has more than ${maxEntries} files`);
    },
    bytes: () =>
      new Transform({
        transform: (piece: Buffer, _, done) => {
          total += piece.length;
          if (total <= maxBytes) done(null, piece);
          else
            done(
              new FatalError(`the source of the module is larger than ${maxBytes} bytes when it is unpacked`),
            );
        },
      }),
  };
}

async function unpackZip(bytes: Buffer, folder: string, count: Counter, links: Link[]): Promise<void> {
  const zip = await new Promise<ZipFile>((resolve, reject) => {
    fromBuffer(bytes, { lazyEntries: true, decodeStrings: true }, (error, opened) =>
      error ? reject(readable(error)) : resolve(opened),
    );
  });
  await new Promise<void>((resolve, reject) => {
    const fail = (error: unknown): void => reject(readable(error));
    zip.on('error', fail);
    zip.on('end', resolve);
    zip.on('entry', (entry: Entry) => {
      unpackEntry({ zip, entry, folder, count, links }).then(() => zip.readEntry(), fail);
    });
    zip.readEntry();
  }).finally(() => zip.close());
}

interface ZipWork {
  zip: ZipFile;
  entry: Entry;
  folder: string;
  count: Counter;
  links: Link[];
}

async function unpackEntry({ zip, entry, folder, count, links }: ZipWork): Promise<void> {
  count.entry();
  const mode = entry.externalFileAttributes >>> 16;
  if (entry.fileName.endsWith('/')) {
    await mkdir(placeOf(folder, entry.fileName), { recursive: true });
    return;
  }
  const stream = await new Promise<Readable>((resolve, reject) => {
    zip.openReadStream(entry, (error, opened) => (error ? reject(error) : resolve(opened)));
  });
  if ((mode & FILE_TYPE) === LINK) {
    const pieces: Buffer[] = [];
    for await (const piece of stream.pipe(count.bytes())) pieces.push(piece as Buffer);
    links.push({ name: entry.fileName, target: Buffer.concat(pieces).toString('utf8') });
    return;
  }
  await writeEntry(stream, placeOf(folder, entry.fileName), mode & MODE_MASK || 0o644, count);
}

async function writeEntry(content: Readable, place: string, mode: number, count: Counter): Promise<void> {
  await mkdir(dirname(place), { recursive: true });
  // Never through a link that an earlier entry has made: `wx` follows none.
  const file = createWriteStream(place, { flags: 'wx', mode: (mode & MODE_MASK) | 0o600 });
  await pipeline(content, count.bytes(), file);
}

/**
 * Makes a link that leads to something in the folder. What it leads to is looked up by the system: the names alone do not tell it,
 * when other links lie on the way.
 */
async function makeLink(folder: string, { name, target }: Link): Promise<void> {
  const place = placeOf(folder, name);
  const refusal = new FatalError(
    `the archive of the module holds the link ${shown(name)}, which leads out of its folder or to nothing`,
  );
  if (target === '' || target.startsWith('/') || target.includes('\0')) throw refusal;
  await mkdir(dirname(place), { recursive: true });
  await symlink(target, place).catch((cause: unknown) => {
    throw readable(cause);
  });
  const leadsTo = await realpath(place).catch(() => null);
  if (leadsTo !== null && isInside(await realpath(folder), leadsTo)) return;
  await rm(place);
  throw refusal;
}

const readable = (error: unknown): unknown =>
  error instanceof FatalError
    ? error
    : new FatalError(`the source of the module cannot be unpacked: ${(error as Error).message}`, {
        cause: error,
      });
