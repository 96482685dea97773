import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, type FileHandle, mkdir, open, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId, systemClock } from '@baton/kernel';
import { onDisk } from './disk-failure';
import { removeStale } from './lease';
import { type BlobStore, blobNotFound, checkDigest, isDigest, type ListedBlob } from './port';
import { rm as removeQuietly } from './remove';
import { spool } from './spool';
import { damaged, verified } from './verified';

/**
 * Blobs as files below `root` (a folder that all processes share): `<2 hex>/<digest>`, written to `incoming/` first. A crash leaves
 * at most a file in `incoming/`, which `sweep` of any process removes (lease.ts).
 */
export function createFileBlobStore({ root }: { root: string }): BlobStore {
  const verifyOnce = createVerifier();
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
      return await onDisk('the file store', async () => {
        const file = await open(pathOf(digest)).catch(absent);
        if (!file) throw blobNotFound(digest);
        if (!range) return verified(file.createReadStream(), digest);
        try {
          await verifyOnce(digest, file);
        } catch (error) {
          await file.close();
          throw error;
        }
        return file.createReadStream(range);
      });
    },
    stat: async (digest) => {
      const found = isDigest(digest) ? await statOf(digest) : null;
      return found && { size: found.size };
    },
    delete: async (digest) => {
      if (isDigest(digest)) await rm(pathOf(digest), { force: true });
    },
    list: async function* (after = '') {
      for await (const digest of digestsBelow(root, after)) yield* listed(digest, await statOf(digest));
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

/** Most files remembered as verified: parts of a file are read repeatedly. */
const MOST_VERIFIED = 10_000;

/**
 * Returns a function that verifies a file once, before a part of it is read, and again when the file has changed. @throws AppError
 * damaged
 */
function createVerifier(): (digest: string, file: FileHandle) => Promise<void> {
  const whole = new Map<string, string>();
  return async (digest, file) => {
    const { ino, size, mtimeMs } = await file.stat();
    const state = `${ino} ${size} ${mtimeMs}`;
    if (whole.get(digest) === state) return;
    const hash = createHash('sha256');
    for await (const piece of file.createReadStream({ autoClose: false, start: 0 }))
      hash.update(piece as Buffer);
    if (hash.digest('hex') !== digest) throw damaged(digest);
    if (whole.size >= MOST_VERIFIED) whole.clear();
    whole.set(digest, state);
  };
}

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT') return null;
  throw error;
}

async function moveIntoPlace(draft: string, path: string): Promise<void> {
  const folder = dirname(path);
  await mkdir(folder, { recursive: true });
  // Replaces an equal file: same content, new time; readers of the old one keep it.
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

/** Yields digests in order, only those behind `after`. */
async function* digestsBelow(root: string, after: string): AsyncIterable<string> {
  for (const folder of await foldersOf(root)) {
    if (folder < after.slice(0, 2)) continue;
    for (const digest of (await readdir(join(root, folder))).filter(isDigest).sort()) {
      if (digest > after) yield digest;
    }
  }
}

function* listed(digest: string, found: { size: number; mtimeMs: number } | null): Iterable<ListedBlob> {
  // Null: deleted since the folder was read.
  if (found) yield { digest, size: found.size, modifiedMs: Math.floor(found.mtimeMs) };
}
