import { readFileSync } from 'node:fs';

/** A process group by its first process: the pid alone may be given to another process later. */
export interface GroupRef {
  pid: number;
  /** Ticks since the boot. */
  start: string;
}

/** Returns the start time of a process in ticks since the boot; empty: there is no such process. */
export function startOf(pid: number): string {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(') ') + 2).split(' ')[19] ?? '';
  } catch {
    return '';
  }
}

/** Names this boot of the machine: pids of an earlier one mean nothing. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}

/**
 * Kills what is left of the group; a group that belongs to somebody else by now is left alone. While a group has a process, its
 * number is not given to another one, so a missing first process does not protect the others. Returns whether something was there.
 */
export function killGroup({ pid, start }: GroupRef): boolean {
  const found = startOf(pid);
  if (found !== '' && found !== start) return false;
  try {
    process.kill(-pid, 'SIGKILL');
    return true;
  } catch {
    return false;
  }
}
