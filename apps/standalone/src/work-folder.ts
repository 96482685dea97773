import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * Returns the work folder of the workers of one home. Operations run as other users than the home's owner, and the home is closed
 * to them. So the folder lies elsewhere, the same at every start: root's in /var/lib/baton, another user's below their state
 * folder.
 */
export function workFolderOf(home: string, uid = process.getuid?.() ?? -1): string {
  const id = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const base = uid === 0 ? '/var/lib/baton' : join(homedir(), '.local/state/baton');
  return join(base, `work-${id}`);
}

/** Makes the folder where it is absent. @throws Error when it belongs to another user */
export function makeWorkFolder(dir: string, uid = process.getuid?.() ?? -1): void {
  mkdirSync(dirname(dir), { recursive: true, mode: 0o711 });
  mkdirSync(dir, { recursive: true, mode: 0o711 });
  const found = lstatSync(dir);
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid))
    throw new Error(`${dir} is not a folder of ours; it belongs to uid ${found.uid}`);
  chmodSync(dir, 0o711);
}
