import { chmod, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { OperationLogger } from '../context';
import { FatalError } from '../errors';
import { download } from './download';
import { digestOf } from './search';
import { archiveKindOf, takeOut } from './unpack';

/** A file with the program, for one kind of machine. */
export interface ToolDownload {
  url: string;
  /** SHA-256 of the downloaded file, in hexadecimal digits. Without it nobody knows whether it is the right one; the log says so. */
  sha256?: string;
  /** Name of the program in a .zip or .tar.gz. Default: the name of the tool. */
  file?: string;
}

export interface FetchedTool {
  path: string;
  /** SHA-256 of the program itself. */
  sha256: string;
}

/**
 * Programs that this process has downloaded. They lie in the private /tmp of the process, which all operations of one plugin and tenant
 * share: no other tenant can put anything there, and the files go with the process.
 */
const fetched = new Map<string, Promise<FetchedTool>>();

/** Downloads a program once for this process. A program that has changed since is not used. */
export async function fetchedTool(
  name: string,
  from: ToolDownload,
  log: OperationLogger,
  signal: AbortSignal,
): Promise<FetchedTool> {
  const key = JSON.stringify([name, from.sha256?.toLowerCase() ?? from.url, from.file]);
  const running = fetched.get(key) ?? fetch(name, from, log, signal);
  fetched.set(key, running);
  try {
    const tool = await running;
    if ((await digestOf(tool.path)) === tool.sha256) return tool;
  } catch (thrown) {
    fetched.delete(key);
    throw thrown;
  }
  fetched.delete(key);
  throw new FatalError(`the downloaded program ${name} has been changed by somebody: it is not used`);
}

async function fetch(
  name: string,
  { url, sha256, file = name }: ToolDownload,
  log: OperationLogger,
  signal: AbortSignal,
): Promise<FetchedTool> {
  const root = join(tmpdir(), 'baton-tools');
  await mkdir(root, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(root, 'new-'));
  try {
    const archive = join(folder, 'download');
    log.info(`Downloading ${name}`);
    if (sha256 === undefined)
      log.warning(`Nobody gives a SHA-256 of ${name}: whatever the server sends is run`);
    await download({ url, path: archive, signal, ...(sha256 === undefined ? {} : { sha256 }) });
    const kind = archiveKindOf(url);
    const path = join(folder, name);
    if (kind === null) await rename(archive, path);
    else {
      await takeOut(archive, kind, file, path);
      await rm(archive);
    }
    await chmod(path, 0o500);
    return { path, sha256: await digestOf(path) };
  } catch (thrown) {
    await rm(folder, { recursive: true, force: true });
    throw thrown;
  }
}
