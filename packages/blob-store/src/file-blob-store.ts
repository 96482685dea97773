import { constants } from 'node:fs';
import { access, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId, systemClock } from '@baton/kernel';
import { onDisk } from './disk-failure';
import { removeStale } from './lease';
import { type BlobStore, blobNotFound, checkDigest, isDigest, type ListedBlob } from './port';
import { rm as removeQuietly } from './remove';
import { spool } from './spool';

/**
 * Blobs as files below `root` (a folder that all processes share): `<2 hex>/<digest>`, written to `incoming/` first.
 * A crash leaves at most a file in `incoming/`, which `sweep` of any process removes (lease.ts).
 */
export function createFileBlobStore({ root }: { root: string }): BlobStore {
  const incoming = join(root, 'incoming');
  const pathOf = (digest: string): string => join(root, checkDigest(digest).slice(0, 2), digest);
  const statOf = (digest: string) => stat(pathOf(digest)).catch(absent);
  return {
    put: async (content, options) => {
      const draft = join(incoming, newId());
      return await onDisk('the file store', async () => {
        await mkdir(incoming, { recursive: true });
        const stored = await spool(content, draft, options?.maxBytes);
        try {
          await moveIntoPlace(draft, pathOf(stored.digest));
        } catch (error) {
          await removeQuietly(draft);
          throw error;
        }
        return stored;
      });
    },
    open: async (digest, range) => {
      const file = await open(pathOf(digest)).catch(absent);
      if (!file) throw blobNotFound(digest);
      return file.createReadStream(range);
    },
    stat: async (digest) => {
      const found = isDigest(digest) ? await statOf(digest) : null;
      return found && { size: found.size };
    },
    delete: async (digest) => {
      if (isDigest(digest)) await rm(pathOf(digest), { force: true });
    },
    list: async function* (after = '') {
      for (const folder of await foldersOf(root)) {
        if (folder < after.slice(0, 2)) continue;
        for (const digest of (await readdir(join(root, folder))).filter(isDigest).sort()) {
          if (digest > after) yield* listed(digest, await statOf(digest));
        }
      }
    },
    sweep: async () => {
      const names = (await readdir(incoming).catch(absent)) ?? [];
      return await removeStale(
        incoming,
        names.map((name) => join(incoming, name)),
      );
    },
    ping: async () => {
      await mkdir(incoming, { recursive: true });
      await access(incoming, constants.W_OK);
    },
  };
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function moveIntoPlace(draft: string, path: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  // Over an equal file: same content, new time, and readers of the old one keep it.
  const now = new Date(systemClock.now());
  await utimes(draft, now, now);
  await rename(draft, path);
  const handle = await open(folder);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function foldersOf(root: string): Promise<string[]> {
  return ((await readdir(root).catch(absent)) ?? []).filter((name) => /^[0-9a-f]{2}$/.test(name)).sort();
}

function* listed(digest: string, found: { size: number; mtimeMs: number } | null): Iterable<ListedBlob> {
  // Absent: deleted since the folder was read.
  if (found) yield { digest, size: found.size, modifiedMs: Math.floor(found.mtimeMs) };
}
