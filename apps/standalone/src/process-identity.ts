import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';

/**
 * The identity of a process, valid also after its number was reused: `startedMark` differs for every process that ever had the
 * number. `space` identifies the set of processes in which the number counts (boot and pid namespace), so that a container does not
 * confuse its process 1 with that of another container.
 */
export interface ProcessIdentity {
  pid: number;
  startedMark: string;
  space: string;
}

export type Liveness = 'alive' | 'gone' | 'unknown';

export function ownIdentity(): ProcessIdentity {
  return { pid: process.pid, startedMark: startedMark(process.pid) ?? '', space: numberSpace() };
}

/** 'unknown': the number tells nothing here, because it belongs to another container or machine. */
export function livenessOf(one: ProcessIdentity): Liveness {
  if (one.space !== numberSpace() || one.startedMark === '') return 'unknown';
  return startedMark(one.pid) === one.startedMark ? 'alive' : 'gone';
}

/** False also for a process that has ended and whose parent has not collected its status yet (a zombie). */
export function isRunning(pid: number): boolean {
  const stat = linuxStat(pid);
  if (stat) return stat.state !== 'Z' && stat.state !== 'X';
  if (hasProc()) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // The process exists, and belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** Null: no such process, or no means to tell. */
function startedMark(pid: number): string | null {
  const stat = linuxStat(pid);
  if (stat) return stat.state === 'Z' || stat.state === 'X' ? null : stat.startTicks;
  if (hasProc() || process.platform === 'win32') return null;
  const { stdout } = spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout?.trim() || null;
}

const hasProc = (): boolean => existsSync('/proc/self/stat');

/** The name of a process may contain blanks and brackets: fields are counted from behind the name. */
function linuxStat(pid: number): { state: string; startTicks: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // Fields 3 (state) and 22 (start time since the boot) of proc(5).
    return { state: fields[0]!, startTicks: fields[19]! };
  } catch {
    return null;
  }
}

function numberSpace(): string {
  if (!hasProc()) return process.platform;
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  return `${boot} ${readlinkSync('/proc/self/ns/pid')}`;
}
