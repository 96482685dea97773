import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';

const LOOK_EVERY_MS = 1_000;

/**
 * Looks once a second how much lies in the folders of an operation, and calls `over` once when it is more than `bytes`. A
 * program may have written more by then, but no more than it can in a second. Answers what ends the looking.
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

/** Bytes on disk of all below; ends early above `enough`. Links are not followed. */
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
    // Blocks are of 512 bytes: a sparse file takes what it takes.
    if (sum * 512 > enough) break;
  }
  return sum * 512;
}
