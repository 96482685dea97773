import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Clock, newId } from '@baton/kernel';

/**
 * Cache of files on disk under `dir/<digest>/<hash of the path>`, shared by the workers of this machine; each use touches the
 * file.
 */
export interface FileCache {
  /** Returns the local path; calls `read` when the file is missing. Concurrent callers share one read. */
  locate(digest: string, path: string, read: () => AsyncIterable<Uint8Array>): Promise<string>;
  /** Removes the least recently used files until the cache fits; returns the number of bytes left. */
  evict(): Promise<number>;
}

export interface FileCacheDeps {
  clock: Clock;
  dir: string;
  maxBytes: number;
}

/** A file that was used this recently may be in use by another worker of this machine. */
const IN_USE_MS = 600_000;
const EVICT_EVERY = 50;

export function createFileCache(deps: FileCacheDeps): FileCache {
  const fetching = new Map<string, Promise<string>>();
  let fetched = 0;

  const evict = async (): Promise<number> => {
    const files = await cachedFiles(deps.dir);
    let bytes = files.reduce((sum, file) => sum + file.size, 0);
    for (const file of files.sort((a, b) => a.usedMs - b.usedMs)) {
      if (bytes <= deps.maxBytes || file.usedMs > deps.clock.now() - IN_USE_MS) break;
      await rm(file.path, { force: true });
      bytes -= file.size;
    }
    return bytes;
  };
  const ensure = async (file: string, read: () => AsyncIterable<Uint8Array>): Promise<string> => {
    if (await touch(file, deps.clock.now())) return file;
    await download(file, read);
    if (++fetched % EVICT_EVERY === 0) await evict();
    return file;
  };

  return {
    evict,
    locate: (digest, path, read) => {
      const name = createHash('sha256').update(path).digest('hex');
      const file = join(deps.dir, digest.replaceAll(/[^\w-]/g, '_'), name);
      const running = fetching.get(file);
      if (running) return running;
      const fetch = ensure(file, read).finally(() => fetching.delete(file));
      fetching.set(file, fetch);
      return fetch;
    },
  };
}

/** Touches the file; false when it does not exist. */
function touch(file: string, nowMs: number): Promise<boolean> {
  const now = new Date(nowMs);
  return utimes(file, now, now).then(
    () => true,
    () => false,
  );
}

/** Downloads a file atomically: the whole file or none. */
async function download(file: string, read: () => AsyncIterable<Uint8Array>): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  const part = `${file}.${newId()}`;
  try {
    await pipeline(Readable.from(read()), createWriteStream(part, { mode: 0o600 }));
    await rename(part, file);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
}

async function cachedFiles(dir: string): Promise<{ path: string; size: number; usedMs: number }[]> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const stats = await Promise.all(
    files.map(async (path) => ({ path, found: await stat(path).catch(() => null) })),
  );
  return stats.flatMap(({ path, found }) =>
    found ? [{ path, size: found.size, usedMs: found.mtimeMs }] : [],
  );
}
