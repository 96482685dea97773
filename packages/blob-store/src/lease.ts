import { lstat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId, systemClock } from '@baton/kernel';
import { rm } from './remove';

/**
 * Whose a temporary file is: its time is renewed while the process that writes it lives, so one that has an old time was
 * left by a process that died. That holds for any number of processes on any number of machines that share a folder, where
 * a process id would say nothing.
 */
const RENEW_MS = 10_000;
/** Longer than a process is kept from its timers; with the sweeps' interval less than the minute that is promised. */
const STALE_MS = 40_000;
/** How often processes look for what others have left. */
export const SWEEP_INTERVAL_MS = 15_000;

/** Renews the time of `path` until the answer is called. */
export function holdLease(path: string): () => void {
  const timer = setInterval(() => {
    const now = new Date(systemClock.now());
    // One that is gone, or a disk that fails, shows where it is written.
    utimes(path, now, now).catch(() => undefined);
  }, RENEW_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Removes those of `paths` that nobody renews any more. The time is that of the file system of `folder`: a file server may
 * have another than this machine.
 */
export async function removeStale(folder: string, paths: readonly string[]): Promise<number> {
  if (paths.length === 0) return 0;
  const nowMs = await timeOf(folder);
  let removed = 0;
  for (const path of paths) {
    const found = await lstat(path).catch(() => null);
    if (!found || found.mtimeMs > nowMs - STALE_MS || !isOurs(found.uid)) continue;
    await rm(path);
    removed += 1;
  }
  return removed;
}

const isOurs = (uid: number): boolean => process.geteuid === undefined || uid === process.geteuid();

/** What a file gets as its time that is written now; the clock of this machine where none can be written. */
async function timeOf(folder: string): Promise<number> {
  const probe = join(folder, `baton-time-${newId()}`);
  try {
    await writeFile(probe, '', { flag: 'wx', mode: 0o600 });
    const { mtimeMs } = await lstat(probe);
    return mtimeMs;
  } catch {
    return systemClock.now();
  } finally {
    await rm(probe);
  }
}
