import { rm as remove } from 'node:fs/promises';

/** Removes a file or folder with its contents; ignores a missing one, and a failure of the disk. */
export const rm = (path: string): Promise<void> =>
  remove(path, { recursive: true, force: true }).catch(() => undefined);
