import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { FatalError, type Http, type OperationContext } from '@baton/plugin-sdk';
import { quote, type SshConnection } from '@baton/plugin-sdk/ssh';
import { packTar } from 'modern-tar';
import { requireInside } from './machine-folder';

export interface SourceScope {
  ctx: OperationContext;
  http: Http;
  hide(value: unknown): void;
}

interface SourceOptions {
  /** Name of the property, for messages. */
  name: string;
  /** An archive with one folder, as code hosts make them, gives the content of that folder. */
  skipsParent?: boolean;
  /** What is no archive becomes a program. */
  isProgram?: boolean;
}

const MOST_FETCHED = 256 * 1024 * 1024;
type Kind = 'zip' | 'tar' | null;

/**
 * Brings a file or archive of the blueprint, or of an HTTP server, into a folder of the machine. Archives are unpacked there.
 * @throws FatalError for another kind of address, and for an answer without a file
 */
export async function placeSource(
  scope: SourceScope,
  connection: SshConnection,
  source: string,
  folder: string,
  { name, skipsParent = false, isProgram = false }: SourceOptions,
): Promise<void> {
  const { file, bytes, kind } = await contentOf(scope, source, name);
  if (kind === null)
    return await connection.put(bytes, posix.join(folder, file), { mode: isProgram ? 0o755 : 0o644 });
  const archive = posix.join(folder, '.baton-archive');
  const place = posix.join(folder, '.baton-unpacked');
  await connection.put(bytes, archive);
  const unpack =
    kind === 'tar'
      ? `tar -xf ${quote(archive)} -C ${quote(place)}`
      : `unzip -oq ${quote(archive)} -d ${quote(place)}`;
  const inner = skipsParent ? `set -- ${quote(place)}/*; [ $# = 1 ] && [ -d "$1" ] && from=$1;` : '';
  await connection.run(
    `rm -rf -- ${quote(place)} && mkdir -- ${quote(place)} && ${unpack} && from=${quote(place)} && { ${inner} :; } && ` +
      `cp -R -- "$from/." ${quote(folder)} && rm -rf -- ${quote(place)} ${quote(archive)}`,
  );
}

async function contentOf(
  { ctx, http, hide }: SourceScope,
  source: string,
  name: string,
): Promise<{ file: string; bytes: Uint8Array; kind: Kind }> {
  if (!source.includes('://')) {
    const path = requireInside(source, name);
    return { file: posix.basename(path), bytes: await ctx.getResource(path), kind: kindOfName(path) };
  }
  if (!/^https?:\/\//i.test(source) || !URL.canParse(source))
    throw new FatalError(`${name}: expected a file of the blueprint, or an address with http:// or https://`);
  const url = new URL(source);
  const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  hide(password);
  url.username = '';
  url.password = '';
  const login = user === '' ? {} : { basic: { user, password } };
  const { status, bytes } = await http.request('GET', url.href, { ...login, maxBytes: MOST_FETCHED });
  if (status !== 200) throw new FatalError(`${name}: ${url.host} answers ${status} for the file`);
  return { file: posix.basename(url.pathname) || 'file', bytes, kind: kindOfBytes(bytes) };
}

export const kindOfName = (path: string): Kind =>
  path.endsWith('.zip') ? 'zip' : /\.(tar|tgz|tar\.(gz|bz2|xz))$/.test(path) ? 'tar' : null;

/** Addresses say nothing about the kind of their answer: the first bytes do. */
function kindOfBytes(bytes: Uint8Array): Kind {
  const text = Buffer.from(bytes.subarray(0, 263)).toString('latin1');
  if (text.startsWith('PK\x03\x04')) return 'zip';
  return /^(\x1f\x8b|BZh|\xfd7zXZ)/.test(text) || text.slice(257, 262) === 'ustar' ? 'tar' : null;
}

/** Brings a folder of the blueprint into a folder of the machine. @throws FatalError when it has no files */
export async function placeFolder(
  { ctx }: Pick<SourceScope, 'ctx'>,
  connection: SshConnection,
  source: string,
  folder: string,
): Promise<void> {
  const local = await mkdtemp(join(tmpdir(), 'baton-files-'));
  try {
    await ctx.downloadDirectory(source, local);
    const archive = await packed(local);
    if (archive === null) throw new FatalError(`the blueprint has no files in ${source}`);
    await connection.run(`mkdir -p -- ${quote(folder)} && tar -xf - -C ${quote(folder)}`, { stdin: archive });
  } finally {
    await rm(local, { recursive: true, force: true });
  }
}

/** The files of a folder as a tar; null: there are none. */
async function packed(folder: string): Promise<Uint8Array | null> {
  const entries = [];
  for (const inside of await readdir(folder, { recursive: true })) {
    const facts = await stat(join(folder, inside));
    if (!facts.isFile()) continue;
    const body = await readFile(join(folder, inside));
    const mode = facts.mode & 0o100 ? 0o755 : 0o644;
    entries.push({ header: { name: inside, size: body.length, mode, mtime: new Date(0) }, body });
  }
  return entries.length === 0 ? null : await packTar(entries);
}
