import { randomBytes } from 'node:crypto';
import { link, mkdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { newId, Secret } from '@baton/kernel';
import { type MasterKey, masterKeyOf } from '../domain/envelope';

export interface KeySettings {
  key: Secret | undefined;
  file: string;
  /** Former keys, only for reading. */
  oldKeys: Secret[];
}

const MIN_LENGTH = 32;

async function readKeyFile(path: string): Promise<Secret | null> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (text === null) return null;
  if (text.trim().length < MIN_LENGTH)
    throw new Error(`the key file ${path} holds less than ${MIN_LENGTH} characters`);
  return new Secret(text.trim());
}

/** Creates the key file atomically: it is complete or absent. When another process was faster, its key counts. */
async function createKeyFile(path: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${newId()}`;
  await writeFile(draft, `${randomBytes(48).toString('base64url')}\n`, { mode: 0o600 });
  try {
    await link(draft, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await unlink(draft);
  }
}

/** Returns the master keys, the current one first. A missing key file is created with a random key. */
export async function loadMasterKeys(settings: KeySettings): Promise<MasterKey[]> {
  let current = settings.key ?? (await readKeyFile(settings.file));
  if (current === null) {
    await createKeyFile(settings.file);
    current = (await readKeyFile(settings.file))!;
  }
  return [current, ...settings.oldKeys].map(masterKeyOf);
}
