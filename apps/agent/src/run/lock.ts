import { mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { AgentFailure, exitCodes } from '../exit-codes';
import { startOf } from '../journal/process-groups';

/**
 * Makes this process the only one of its agent. Returns a function that ends that. A lock of a dead process does not count.
 * @throws AgentFailure inUse, disk
 */
export function takeLock(path: string): () => void {
  const own = `${process.pid} ${startOf(process.pid)}`;
  for (let tries = 0; ; tries++) {
    try {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      writeFileSync(path, own, { flag: 'wx', mode: 0o600 });
      return () => {
        if (read(path) === own) unlinkSync(path);
      };
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code !== 'EEXIST')
        throw new AgentFailure(exitCodes.disk, `${path}: ${(cause as Error).message}`, { cause });
    }
    const holder = holderOf(path);
    if (holder !== null || tries >= 3)
      throw new AgentFailure(exitCodes.inUse, `the agent runs already, as process ${holder ?? '(unknown)'}`);
    try {
      unlinkSync(path);
    } catch {
      // Another process has removed the old lock.
    }
  }
}

/** Returns the pid of the living process that holds the lock; null: nobody does. */
export function holderOf(path: string): number | null {
  const [pid, start] = read(path).split(' ');
  return start && startOf(Number(pid)) === start ? Number(pid) : null;
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return '';
  }
}
