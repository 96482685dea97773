import { lstat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId, systemClock } from '@baton/kernel';
import { rm } from './remove';

/**
 * Lease of a temporary file: the process that writes it renews its time, so a file with an old time was left by a process that
 * died. This works for any number of processes on any number of machines that share a folder, where a process id would tell
 * nothing.
 */
const RENEW_MS = 10_000;
/** Longer than timers of a process may be delayed; together with the interval of the sweeps less than the promised minute. */
const STALE_MS = 40_000;
/** Interval at which processes look for leftovers of others. */
export const SWEEP_INTERVAL_MS = 15_000;

/** Renews the time of `path` until the returned function is called. */
export function holdLease(path: string): () => void {
  const timer = setInterval(() => {
    const now = new Date(systemClock.now());
    // A missing file, or a disk that fails, is noticed where the file is written.
    utimes(path, now, now).catch(() => undefined);
  }, RENEW_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/**
 * Removes those of `paths` whose time is not renewed any more. The time is that of the file system of `folder`: a file server may
 * have another time than this machine.
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

/** Returns the time that a file written now gets; the clock of this machine where no file can be written. */
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
