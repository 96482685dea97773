import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const LOOK_EVERY_MS = 1_000;

/**
 * Measures once a second the size of an operation's folders, and calls `over` once when it exceeds `bytes`. A program
 * may have written more by then, but only as much as in one second. Returns the function that stops the watch.
 */
export function watchDisk(
  folders: readonly string[],
  bytes: number,
  over: (found: number) => void,
): () => void {
  let isOver = false;
  let timer: NodeJS.Timeout | undefined;
  const look = async (): Promise<void> => {
    const found = await sizeOf(folders, bytes);
    if (isOver) return;
    if (found > bytes) return over(found);
    timer = setTimeout(() => void look(), LOOK_EVERY_MS);
  };
  timer = setTimeout(() => void look(), LOOK_EVERY_MS);
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
}

/** Returns the bytes on disk of all files below; stops early above `enough`. Links are not followed. */
async function sizeOf(folders: readonly string[], enough: number): Promise<number> {
  let sum = 0;
  const pending = [...folders];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) pending.push(path);
      else sum += (await lstat(path).catch(() => null))?.blocks ?? 0;
    }
    // Blocks have 512 bytes: a sparse file counts with its real size on disk.
    if (sum * 512 > enough) break;
  }
  return sum * 512;
}
