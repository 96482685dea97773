import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BaseScope, FatalError } from '@baton/plugin-sdk';
import { requireInside } from '../settings/inside';

/** Most bytes that an archive may have when it is unpacked, and most entries. */
const LIMITS = { bytes: 256 * 1024 * 1024, entries: 20_000 };

/** Unpacks with the modules of Python, which leave out absolute names and `..`; counts before it writes; makes no links. */
const UNPACK = `
import os, sys, tarfile, zipfile
source, target, most_bytes, most_entries = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
def place(name):
    path = os.path.normpath(os.path.join(target, name.lstrip("/")))
    if path != target and not path.startswith(target + os.sep):
        sys.exit("the archive has an entry that leads out: " + name[:200])
    return path
def count(sizes):
    if len(sizes) > most_entries or sum(sizes) > most_bytes:
        sys.exit("the archive is larger than %d entries or %d bytes" % (most_entries, most_bytes))
def write(path, stream, size, mode):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    left = size
    with open(path, "wb") as out:
        while left > 0:
            piece = stream.read(min(left, 1 << 20))
            if not piece:
                break
            out.write(piece)
            left -= len(piece)
    os.chmod(path, 0o700 if mode & 0o100 else 0o600)
if zipfile.is_zipfile(source):
    with zipfile.ZipFile(source) as archive:
        entries = [one for one in archive.infolist() if not one.is_dir()]
        count([one.file_size for one in entries])
        for one in entries:
            mode = one.external_attr >> 16
            if mode and (mode & 0o170000) not in (0, 0o100000):
                continue
            with archive.open(one) as stream:
                write(place(one.filename), stream, one.file_size, mode)
else:
    with tarfile.open(source) as archive:
        entries = []
        for one in archive:
            entries.append(one)
            count([entry.size for entry in entries if entry.isreg()] or [0])
            if len(entries) > most_entries:
                count([0] * len(entries))
        for one in entries:
            if one.isreg():
                write(place(one.name), archive.extractfile(one), one.size, one.mode)
`;

const ADDRESS = /^https?:\/\//i;
const MOST_FETCHED = 64 * 1024 * 1024;

/**
 * Unpacks an archive (zip, tar, tar.gz) of the blueprint or of an HTTP server. Only files and folders come out of it.
 * @throws FatalError for an archive that is too large, leads out, or cannot be read
 */
export async function unpack(scope: BaseScope, source: string, folder: string): Promise<void> {
  const place = await mkdtemp(join(tmpdir(), 'archive-'));
  try {
    const file = join(place, 'archive');
    await writeFile(file, await contentOf(scope, source));
    const limits = [String(LIMITS.bytes), String(LIMITS.entries)];
    await scope.exec('python3', ['-I', '-c', UNPACK, file, folder, ...limits], { exitCodes: { 1: 'fatal' } });
  } finally {
    await rm(place, { recursive: true, force: true });
  }
}

async function contentOf({ ctx, http, hide }: BaseScope, source: string): Promise<Uint8Array> {
  if (!source.includes('://')) return await ctx.getResource(requireInside(source, 'playbook_source_path'));
  if (!ADDRESS.test(source))
    throw new FatalError('playbook_source_path: expected http:// or https:// and the address of an archive');
  const url = new URL(source);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  hide(password);
  url.username = '';
  url.password = '';
  const basic = user === '' ? {} : { basic: { user, password } };
  const answer = await http.request('GET', url.href, { ...basic, maxBytes: MOST_FETCHED });
  if (answer.status !== 200)
    throw new FatalError(`playbook_source_path: ${url.host} answers ${answer.status} for the archive`);
  return answer.bytes;
}
