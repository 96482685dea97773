/** Where workers reach the streams of the services: a socket that the manager's user alone may open. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Home } from './home';

/** The shortest that systems take, less the ending 0. */
const MAX_PATH_BYTES = 103;
const NAME = 'workers.sock';

export interface WorkerSocket {
  /** Path to listen at; nothing is there. */
  socket: string;
  remove(): Promise<void>;
}

/**
 * In the home, which others cannot enter and which covers it from operations; where its path is too long for a socket, in a
 * temporary folder of the same kind. A process that died leaves a socket behind: the owner of the home removes it here.
 */
export async function workerSocket(home: Pick<Home, 'dir'>): Promise<WorkerSocket> {
  const inHome = join(home.dir, NAME);
  if (Buffer.byteLength(inHome) <= MAX_PATH_BYTES) {
    await rm(inHome, { force: true });
    return { socket: inHome, remove: () => rm(inHome, { force: true }) };
  }
  const folder = await mkdtemp(join(tmpdir(), 'baton-'));
  await chmod(folder, 0o700);
  const socket = join(folder, NAME);
  return { socket, remove: () => rm(dirname(socket), { recursive: true, force: true }) };
}
