import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** A folder that only this process reads. */
export interface PrivateFolder {
  readonly path: string;
  /** Writes a file for its owner alone, and returns its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
}

/** Runs `work` with a fresh folder, which is removed in the end, also after a failure. A process that dies leaves it to its own `/tmp`. */
export async function inPrivateFolder<T>(work: (folder: PrivateFolder) => Promise<T>): Promise<T> {
  const path = await mkdtemp(join(tmpdir(), 'baton-helm-'));
  try {
    await chmod(path, 0o700);
    return await work({
      path,
      write: async (name, content) => {
        const file = join(path, name);
        await mkdir(dirname(file), { recursive: true, mode: 0o700 });
        await writeFile(file, content, { mode: 0o600 });
        return file;
      },
    });
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}
