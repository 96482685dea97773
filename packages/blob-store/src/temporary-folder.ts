import { mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { holdLease, removeStale } from './lease';
import { rm } from './remove';

const PREFIX = 'baton-temporary-';
/** Of releases before these folders had one name. */
const OLD_PREFIXES = ['baton-archive-', 'baton-snapshot-'];

export interface TemporaryFolder {
  path: string;
  remove(): Promise<void>;
}

/**
 * A folder for large files that are under way, which nobody else may read. A crash leaves it to `sweepTemporaryFolders`
 * of any process on this machine.
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

/** Runs `work` with a temporary folder of its own. */
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

/** Removes the temporary folders that processes of this user left when they died; answers how many. */
export async function sweepTemporaryFolders(root = tmpdir()): Promise<number> {
  const names = await readdir(root).catch(() => []);
  const ours = names.filter((name) => [PREFIX, ...OLD_PREFIXES].some((prefix) => name.startsWith(prefix)));
  return await removeStale(
    root,
    ours.map((name) => join(root, name)),
  );
}
