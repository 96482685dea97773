import { createHash } from 'node:crypto';
import { chmodSync, lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';

/**
 * The folder of the workers of one home. Operations run as others than its owner, and a home is closed to them; so it is
 * elsewhere, the same at every start: root's in /var/lib/baton, another user's below their state folder.
 */
export function workFolderOf(home: string, uid = process.getuid?.() ?? -1): string {
  const id = createHash('sha256').update(home).digest('hex').slice(0, 16);
  const base = uid === 0 ? '/var/lib/baton' : join(homedir(), '.local/state/baton');
  return join(base, `work-${id}`);
}

/** Makes the folder where it is absent. @throws Error when somebody else has it */
export function makeWorkFolder(dir: string, uid = process.getuid?.() ?? -1): void {
  mkdirSync(dirname(dir), { recursive: true, mode: 0o711 });
  mkdirSync(dir, { recursive: true, mode: 0o711 });
  const found = lstatSync(dir);
  if (!found.isDirectory() || (uid >= 0 && found.uid !== uid))
    throw new Error(`${dir} is not a folder of ours; it belongs to uid ${found.uid}`);
  chmodSync(dir, 0o711);
}
