import { randomBytes } from 'node:crypto';
import { chmod, chown, lstat, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import { FatalError } from '@baton/plugin-sdk';

/** Where a file stands, and whose it is. */
export interface Target {
  path: string;
  /** `user` or `user:group`. */
  owner: string;
  /** Permissions as a number that is read as octal: 644. */
  mode: number;
}

/** @throws FatalError for a path that is not absolute */
export function pathOf(path: string): string {
  const whole = path.startsWith('~/') ? join(homedir(), path.slice(2)) : path;
  if (!isAbsolute(whole) || whole.includes('\0'))
    throw new FatalError(`file_path: ${JSON.stringify(path)}; expected an absolute path`);
  return whole;
}

/** @throws FatalError for digits that are no permissions */
export function modeOf(mode: number): number {
  const text = String(mode);
  if (!/^[0-7]{1,4}$/.test(text))
    throw new FatalError(`mode: ${text}; expected digits from 0 to 7, for instance 644`);
  return Number.parseInt(text, 8);
}

/**
 * Writes a file beside its place and moves it there, so that nobody sees half of it. A link in that place is replaced, not followed.
 * @throws FatalError when the plugin may not write there, or may not give the file to its owner
 */
export async function placeFile(content: Uint8Array, { path, owner, mode }: Target): Promise<void> {
  const permissions = modeOf(mode);
  const ids = await idsOf(owner);
  const draft = join(dirname(path), `.baton-${randomBytes(8).toString('hex')}`);
  try {
    await writeFile(draft, content, { flag: 'wx', mode: 0o600 });
    if (ids.uid !== process.getuid?.() || ids.gid !== process.getgid?.())
      await chown(draft, ids.uid, ids.gid);
    await chmod(draft, permissions);
    if (await isDirectory(path)) throw new FatalError(`file_path: ${path} is a folder`);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw refusal(error, path, owner);
  }
}

/** Removes a file. One that is gone is no failure. @throws FatalError for a folder, and without permission */
export async function removeFile(path: string): Promise<void> {
  if (await isDirectory(path)) throw new FatalError(`file_path: ${path} is a folder`);
  try {
    await rm(path, { force: true });
  } catch (error) {
    throw refusal(error, path, '');
  }
}

async function isDirectory(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isDirectory();
  } catch {
    return false;
  }
}

/** Numbers of a user and a group. One name stands for both. @throws FatalError for an unknown name */
async function idsOf(owner: string): Promise<{ uid: number; gid: number }> {
  const [user, group = user, ...more] = owner.split(':');
  if (!user || !group || more.length > 0)
    throw new FatalError('owner: expected one of the formats "user" or "user:group"');
  return { uid: await numberOf('/etc/passwd', user), gid: await numberOf('/etc/group', group) };
}

async function numberOf(file: string, name: string): Promise<number> {
  if (/^\d+$/.test(name)) return Number(name);
  const lines = (await readFile(file, 'utf8')).split('\n').map((line) => line.split(':'));
  const found = lines.find(([first]) => first === name);
  if (found === undefined) throw new FatalError(`owner: there is no ${name} in ${file} of the worker`);
  return Number(found[2]);
}

function refusal(error: unknown, path: string, owner: string): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (['EPERM', 'EACCES', 'EROFS', 'EINVAL'].includes(code ?? ''))
    return new FatalError(
      `the plugin may not write ${path}${owner === '' ? '' : ` for ${owner}`} (${code}): operations are isolated from the machine of the worker`,
      { cause: error },
    );
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return new FatalError(`file_path: there is no folder ${dirname(path)}`, { cause: error });
  return error;
}
