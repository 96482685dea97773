import { readdir, readFile } from 'node:fs/promises';
import type { Isolation } from '@baton/isolation';
import { MARK_VARIABLE } from '../script/orphan-guard';

/** A process that is killed may have started another one before. */
const MOST_LOOKS = 5;
const PROCESS = /^\d+$/;

/** Whether the processes of a plugin have a pid namespace, so that they all end with its group. */
export const hasOwnProcesses = ({ name }: Pick<Isolation, 'name'>): boolean =>
  name === 'bubblewrap' || name === 'namespaces';

/**
 * Kills the processes that a process of a plugin has left: those whose environment carries the mark, in whatever group they
 * are. A program that has cleared its environment is not found. Needed only where no pid namespace ends them. Never throws.
 */
export async function killMarked(mark: string): Promise<void> {
  for (let look = 0; look < MOST_LOOKS; look++) {
    const names = await readdir('/proc').catch(() => []);
    const found = await Promise.all(
      names.filter((name) => PROCESS.test(name)).map((pid) => killIfMarked(pid, mark)),
    );
    if (!found.includes(true)) return;
  }
}

async function killIfMarked(pid: string, mark: string): Promise<boolean> {
  // A process that has ended, or belongs to somebody else, cannot be read.
  const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => '');
  if (!environment.split('\0').includes(`${MARK_VARIABLE}=${mark}`)) return false;
  try {
    process.kill(Number(pid), 'SIGKILL');
  } catch {
    // It has ended meanwhile.
  }
  return true;
}
