import { createHash } from 'node:crypto';
import { constants, createReadStream } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import { FatalError } from '../errors';
import { searchPath } from '../tools/config';

/** Absolute folders of PATH. */
export const pathFolders = (): string[] => searchPath().split(':').filter(isAbsolute);

/** Programs of that name, in the order of PATH. */
export async function onPath(name: string): Promise<string[]> {
  const found: string[] = [];
  for (const folder of pathFolders()) {
    const path = join(folder, name);
    if (await isProgram(path)) found.push(path);
  }
  return found;
}

async function isProgram(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
}

/** @throws FatalError when the file is not there, or another one */
export async function requireDigest(path: string, sha256: string): Promise<void> {
  const found = await digestOf(path);
  if (found !== sha256.toLowerCase())
    throw new FatalError(
      `${path} is another program: its SHA-256 is ${found}, and ${sha256.toLowerCase()} was expected`,
    );
}

/** @throws FatalError when the file cannot be read */
export async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256');
  try {
    for await (const piece of createReadStream(path)) digest.update(piece as Buffer);
  } catch (cause) {
    throw new FatalError(`${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
  return digest.digest('hex');
}
