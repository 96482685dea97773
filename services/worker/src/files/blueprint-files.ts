import { normalize } from 'node:path';
import { isAppError, notFound } from '@baton/kernel';
import { LRUCache } from 'lru-cache';
import type { CatalogClient } from '../adapters/catalog.client';
import type { FileCache } from './file-cache';

export interface BlueprintFiles {
  /** Returns the local path of a file of the blueprint; the file must not be changed. @throws AppError not_found_error */
  locate(tenant: string, blueprintId: string, path: string): Promise<string>;
  /**
   * Returns the paths of files below a folder of the blueprint, relative to it. @throws AppError not_found_error when there are
   * none
   */
  list(tenant: string, blueprintId: string, folder: string): Promise<string[]>;
}

export interface BlueprintFilesDeps {
  catalog: Pick<CatalogClient, 'digest' | 'namespaces' | 'readFile' | 'listFiles'>;
  cache: FileCache;
}

/** Returns the normalized path; null when it leads out of its folder. */
export function insidePath(path: string): string | null {
  const clean = normalize(path);
  return clean.startsWith('..') || clean.startsWith('/') || clean.includes('\0') ? null : clean;
}

/** How long the digest of a blueprint id is cached. */
const DIGEST_MS = 10_000;

/** Caches files of blueprints on disk by the digest of the archive, so that they are never outdated. */
export function createBlueprintFiles(deps: BlueprintFilesDeps): BlueprintFiles {
  const { catalog, cache } = deps;
  const digests = new LRUCache<string, Promise<string>>({ max: 1_000, ttl: DIGEST_MS });
  const namespaces = new LRUCache<string, Promise<Record<string, string>>>({ max: 100 });

  const digestOf = (tenant: string, id: string) =>
    remembered(digests, `${tenant}/${id}`, () => catalog.digest(tenant, id));
  /** Resolves `<namespace>--<path>`: a file of a blueprint that was imported under that prefix. */
  const importedOf = async (tenant: string, id: string, path: string) => {
    const digest = await digestOf(tenant, id);
    return importedFile(await remembered(namespaces, digest, () => catalog.namespaces(tenant, id)), path);
  };

  /** Returns the blueprint that has the path: this one, or one that it imports. @throws AppError not_found_error */
  const placeOf = async (tenant: string, blueprintId: string, path: string) => {
    const clean = insidePath(path);
    if (clean === null) throw notFound('file', path);
    const imported = clean.includes('--') ? await importedOf(tenant, blueprintId, clean) : null;
    if (imported && insidePath(imported.path) === null) throw notFound('file', path);
    return imported ?? { blueprintId, path: clean };
  };

  return {
    list: async (tenant, blueprintId, folder) => {
      const place = await placeOf(tenant, blueprintId, folder);
      return withoutPrefixToo(place.path, (path) => catalog.listFiles(tenant, place.blueprintId, path));
    },
    locate: async (tenant, blueprintId, path) => {
      const file = await placeOf(tenant, blueprintId, path);
      const digest = await digestOf(tenant, file.blueprintId);
      return withoutPrefixToo(file.path, (inside) =>
        cache.locate(digest, inside, () => catalog.readFile(tenant, file.blueprintId, inside)),
      );
    },
  };
}

/** Returns the result of `read`, called once while the cache has the key; a failed result is removed. */
export function remembered<T extends {}>(
  cache: LRUCache<string, Promise<T>>,
  key: string,
  read: () => Promise<T>,
): Promise<T> {
  const known = cache.get(key);
  if (known) return known;
  const reading = read();
  cache.set(key, reading);
  reading.catch(() => cache.delete(key));
  return reading;
}

/**
 * Reads a path of a blueprint, else the path without prefixes: a file of the same blueprint that was imported under a prefix
 * names its scripts with the prefix (reference/dsl.md 5.5, step 3). @throws AppError not_found_error for the given path
 */
async function withoutPrefixToo<T>(path: string, read: (path: string) => Promise<T>): Promise<T> {
  try {
    return await read(path);
  } catch (error) {
    // Behind the prefix a path may lead out again.
    const plain = insidePath(path.slice(path.lastIndexOf('--') + 2));
    if (!path.includes('--') || plain === null || !isAppError(error, 'not_found_error')) throw error;
    return read(plain).catch(() => {
      throw error;
    });
  }
}

/** Resolves the prefix of a path. The longest prefix wins, because prefixes of nested imports are longer. */
function importedFile(
  prefixes: Record<string, string>,
  path: string,
): { blueprintId: string; path: string } | null {
  const names = Object.keys(prefixes).filter((name) => path.startsWith(`${name}--`));
  const name = names.sort((a, b) => b.length - a.length)[0];
  if (name === undefined) return null;
  return { blueprintId: prefixes[name] as string, path: path.slice(name.length + 2) };
}
