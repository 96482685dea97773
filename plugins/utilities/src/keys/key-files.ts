import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';

const MAX_BYTES = 64 * 1024;

/** Reads a file; null: there is none. @throws FatalError when it cannot be read, or is no file of a key */
export async function readKeyFile(path: string): Promise<string | null> {
  const place = placeOf(path);
  try {
    const found = await stat(place);
    // A device would be read without end.
    if (!found.isFile() || found.size > MAX_BYTES) throw new FatalError(`${path} is no file of a key`);
    return await readFile(place, 'utf8');
  } catch (cause) {
    if (cause instanceof FatalError) throw cause;
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'ENOENT') return null;
    throw new FatalError(`the file ${path} cannot be read: ${code}`, { cause });
  }
}

/**
 * Writes a file that only its owner reads. It is there with its whole content, or not at all.
 * @throws FatalError when there is a file already, or the place cannot be written
 */
export async function makeKeyFile(path: string, content: string): Promise<void> {
  const place = placeOf(path);
  const part = `${place}.${randomUUID()}`;
  try {
    await mkdir(dirname(place), { recursive: true, mode: 0o700 });
    await writeFile(part, content, { flag: 'wx', mode: 0o600 });
    // Unlike a rename, a link never replaces the file of somebody else.
    await link(part, place);
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EEXIST')
      throw new FatalError(`there is a file ${path} already: it is not replaced`, { cause });
    throw new FatalError(`the file ${path} cannot be written: ${code}`, { cause });
  } finally {
    await rm(part, { force: true });
  }
}

/** Removes a file, when there is one. @throws FatalError when it cannot be removed */
export async function removeKeyFile(path: string): Promise<void> {
  await rm(placeOf(path), { force: true }).catch((cause: NodeJS.ErrnoException) => {
    throw new FatalError(`the file ${path} cannot be removed: ${cause.code}`, { cause });
  });
}

const placeOf = (path: string): string =>
  resolve(path.startsWith('~/') ? join(homedir(), path.slice(2)) : path);
