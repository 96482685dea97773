/** The socket on which workers reach the streams of the services; only the manager's user may open it. */
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { Home } from './home';

/** The shortest limit of all systems, without the final 0 byte. */
const MAX_PATH_BYTES = 103;
const NAME = 'workers.sock';

export interface WorkerSocket {
  /** Path to listen on; no file exists there. */
  socket: string;
  remove(): Promise<void>;
}

/**
 * Chooses the path of the socket: in the home, which other users cannot enter and which is hidden from operations; or, where that
 * path is too long for a socket, in a temporary folder of the same kind. A process that died leaves a socket behind; it is removed
 * here.
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
