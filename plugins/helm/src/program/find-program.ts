import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, chmod, lstat, mkdir, mkdtemp, rename, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, delimiter, dirname, isAbsolute, join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { type BaseScope, FatalError, requireDownloads } from '@baton/plugin-sdk';
import { fileOfTar } from './tar-file';

/** How a node says which program it uses. */
export interface ProgramChoice {
  executable_path?: string;
  installation_source?: string;
  /** SHA-256 of the downloaded file, from the node Binary. */
  installation_digest?: string;
}

const MAX_DOWNLOAD = 200 * 1024 * 1024;
const DOWNLOAD_MS = 300_000;

/**
 * The program: the named path, or the download, or helm of the machine (PATH). A download is kept for later operations of this process.
 * @throws FatalError when there is none
 */
export async function findProgram(
  scope: Pick<BaseScope, 'http' | 'log'>,
  choice: ProgramChoice,
  path: string | undefined,
): Promise<string> {
  const { executable_path: named, installation_source: source } = choice;
  if (named) {
    if (!isAbsolute(named) || !(await isProgram(named)))
      throw new FatalError(
        `helm_config.executable_path: ${named} is no program on the machine of the worker`,
      );
    return named;
  }
  if (source) return (await download(scope, source, choice.installation_digest)).program;
  const installed = await onPath(path);
  if (installed !== null) return installed;
  throw new FatalError(
    'there is no helm on the machine of the worker: install it, name its path in helm_config.executable_path, or connect the node to ' +
      'a cloudify.nodes.helm.Binary by cloudify.helm.relationships.run_on_host',
  );
}

const isProgram = async (path: string): Promise<boolean> =>
  await access(path, constants.X_OK).then(
    async () => (await stat(path)).isFile(),
    () => false,
  );

/** Helm in the folders of PATH; null: it is in none. */
export async function onPath(path: string | undefined): Promise<string | null> {
  for (const folder of (path ?? '').split(delimiter).filter(isAbsolute))
    if (await isProgram(join(folder, 'helm'))) return join(folder, 'helm');
  return null;
}

/** Downloads the program. @throws FatalError for another digest than `digest` */
export async function download(
  { http, log }: Pick<BaseScope, 'http' | 'log'>,
  source: string,
  digest: string | undefined,
): Promise<{ program: string; digest: string }> {
  if (!/^https?:\/\//.test(source))
    throw new FatalError('installation_source: expected an address that begins with https://');
  if (digest !== undefined) {
    const kept = keptAt(digest);
    if ((await isOwnFolder(dirname(kept))) && (await isProgram(kept))) return { program: kept, digest };
  }
  requireDownloads('helm');
  log.info('Downloading helm');
  const answer = await http.request('GET', source, { maxBytes: MAX_DOWNLOAD, timeoutMs: DOWNLOAD_MS });
  if (answer.status !== 200)
    throw new FatalError(`installation_source: the download was answered ${answer.status}`);
  const found = createHash('sha256').update(answer.bytes).digest('hex');
  if (digest !== undefined && digest !== found)
    throw new FatalError(
      `installation_source: the file has changed: its SHA-256 is ${found}, and was ${digest}`,
    );
  const content = /\.t(ar\.)?gz$/.test(new URL(source).pathname)
    ? fileOfTar(
        gunzipSync(answer.bytes, { maxOutputLength: MAX_DOWNLOAD }),
        (name) => basename(name) === 'helm',
      )
    : answer.bytes;
  if (content === null) throw new FatalError('installation_source: the archive holds no file helm');
  return { program: await keep(found, content), digest: found };
}

const keptAt = (digest: string): string => join(tmpdir(), `baton-helm-${digest.slice(0, 32)}`, 'helm');

/** Where operations share `/tmp`, somebody else may have made a folder of this name, with another program. */
async function isOwnFolder(folder: string): Promise<boolean> {
  const found = await lstat(folder).catch(() => null);
  if (found === null) return false;
  return found.isDirectory() && found.uid === process.getuid?.() && (found.mode & 0o077) === 0;
}

/** Two operations may do this at once: each writes its own file, and the last rename stays. */
async function keep(digest: string, content: Uint8Array): Promise<string> {
  const wanted = dirname(keptAt(digest));
  await mkdir(wanted, { mode: 0o700 }).catch(() => undefined);
  const folder = (await isOwnFolder(wanted)) ? wanted : await mkdtemp(join(tmpdir(), 'baton-helm-own-'));
  const fresh = join(folder, `helm-${process.pid}-${Math.round(performance.now() * 1000)}`);
  await writeFile(fresh, content, { mode: 0o700 });
  await chmod(fresh, 0o700);
  await rename(fresh, join(folder, 'helm'));
  return join(folder, 'helm');
}
