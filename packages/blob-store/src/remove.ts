import { rm as remove } from 'node:fs/promises';

/** Removes a file or folder with all in it; nothing happens when it is gone, or when the disk does not let it go. */
export const rm = (path: string): Promise<void> =>
  remove(path, { recursive: true, force: true }).catch(() => undefined);
