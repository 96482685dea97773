import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Clock, newId, notFound } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import type { CatalogClient } from './adapters/catalog.client';

export interface BlueprintFiles {
  /** Local path of a file of the blueprint; not to be changed. @throws AppError not_found_error */
  locate(tenant: string, blueprintId: string, path: string): Promise<string>;
  /** Removes the files used longest ago until the cache fits; answers how many bytes are left. */
  evict(): Promise<number>;
}

export interface BlueprintFilesDeps {
  catalog: CatalogClient;
  clock: Clock;
  dir: string;
  maxBytes: number;
}

/** How long a blueprint id is taken to name the same archive. */
const DIGEST_MS = 10_000;
/** A file that was used this recently may be in use by another worker of this machine. */
const IN_USE_MS = 600_000;
const EVICT_EVERY = 50;

/** Files of blueprints on disk, by the digest of the archive, so that they never go stale. */
export function createBlueprintFiles(deps: BlueprintFilesDeps): BlueprintFiles {
  const digests = new LRUCache<string, Promise<string>>({ max: 1_000, ttl: DIGEST_MS });
  const namespaces = new LRUCache<string, Promise<Record<string, string>>>({ max: 100 });
  const fetching = new Map<string, Promise<string>>();
  let fetched = 0;

  const remembered = <T extends {}>(
    cache: LRUCache<string, Promise<T>>,
    key: string,
    read: () => Promise<T>,
  ): Promise<T> => {
    const known = cache.get(key);
    if (known) return known;
    const reading = read();
    cache.set(key, reading);
    reading.catch(() => cache.delete(key));
    return reading;
  };
  const digestOf = (tenant: string, id: string) =>
    remembered(digests, `${tenant}/${id}`, () => deps.catalog.digest(tenant, id));

  const locateExact = async (tenant: string, id: string, path: string): Promise<string> => {
    const digest = await digestOf(tenant, id);
    const file = join(
      deps.dir,
      digest.replaceAll(/[^\w-]/g, '_'),
      createHash('sha256').update(path).digest('hex'),
    );
    const running = fetching.get(file);
    if (running) return running;
    const fetch = ensure(file, () => deps.catalog.readFile(tenant, id, path)).finally(() =>
      fetching.delete(file),
    );
    fetching.set(file, fetch);
    return fetch;
  };

  const ensure = async (file: string, read: () => AsyncIterable<Uint8Array>): Promise<string> => {
    const now = new Date(deps.clock.now());
    const isCached = await utimes(file, now, now).then(
      () => true,
      () => false,
    );
    if (isCached) return file;
    await mkdir(join(file, '..'), { recursive: true });
    const part = `${file}.${newId()}`;
    try {
      await pipeline(Readable.from(read()), createWriteStream(part, { mode: 0o600 }));
      await rename(part, file);
    } catch (error) {
      await rm(part, { force: true });
      throw error;
    }
    if (++fetched % EVICT_EVERY === 0) await evict();
    return file;
  };

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

  return {
    evict,
    locate: async (tenant, blueprintId, path) => {
      const clean = normalize(path);
      if (clean.startsWith('..') || clean.startsWith('/') || clean.includes('\0'))
        throw notFound('file', path);
      if (clean.includes('--')) {
        // `<namespace>--<path>`: a file of a blueprint that was imported under that prefix; prefixes of nested imports are longer.
        const digest = await digestOf(tenant, blueprintId);
        const prefixes = await remembered(namespaces, digest, () =>
          deps.catalog.namespaces(tenant, blueprintId),
        );
        const names = Object.keys(prefixes).filter((name) => clean.startsWith(`${name}--`));
        const name = names.sort((a, b) => b.length - a.length)[0];
        if (name !== undefined)
          return locateExact(tenant, prefixes[name] as string, clean.slice(name.length + 2));
      }
      return locateExact(tenant, blueprintId, clean);
    },
  };
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
