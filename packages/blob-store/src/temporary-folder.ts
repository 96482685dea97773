import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdLease, removeStale } from './lease';
import { rm } from './remove';

const PREFIX = 'baton-temporary-';
/** Prefixes of older releases, before these folders had one name. */
const OLD_PREFIXES = ['baton-archive-', 'baton-snapshot-'];

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/**
 * Makes a folder for large files in progress, which no other user may read. After a crash, `sweepTemporaryFolders` of any process
 * on this machine removes it.
 */
export async function makeTemporaryFolder(root = tmpdir()): Promise<TemporaryFolder> {
  const path = await mkdtemp(join(root, PREFIX));
  const release = holdLease(path);
  return {
    path,
    remove: () => {
      release();
      return rm(path);
    },
  };
}

/** Runs `work` with its own temporary folder. */
export async function withTemporaryFolder<T>(
  work: (folder: string) => Promise<T>,
  root?: string,
): Promise<T> {
  const folder = await makeTemporaryFolder(root);
  try {
    return await work(folder.path);
  } finally {
    await folder.remove();
  }
}

/** Removes the temporary folders that dead processes of this user left; returns their number. */
export async function sweepTemporaryFolders(root = tmpdir()): Promise<number> {
  const names = await readdir(root).catch(() => []);
  const ours = names.filter((name) => [PREFIX, ...OLD_PREFIXES].some((prefix) => name.startsWith(prefix)));
  return await removeStale(
    root,
    ours.map((name) => join(root, name)),
  );
}
