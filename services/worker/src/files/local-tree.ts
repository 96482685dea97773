/** Files below a folder that scripts may write to: links are never followed, whoever created them. */
import { isUtf8 } from 'node:buffer';
import { constants } from 'node:fs';
import { chown, type FileHandle, lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { newId } from '@baton/kernel';

export interface LocalFile {
  size: number;
  /** With fractions, as in the file system. */
  modifiedMs: number;
  mode: number;
}

export type Account = { uid: number; gid: number } | null;

function absent(error: NodeJS.ErrnoException): null {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return null;
  throw error;
}

/**
 * Returns plain files below `dir` by their relative path; other kinds of files are not shared between machines. `unnamed` is
 * called for files and folders whose name is not UTF-8 (other machines cannot name them), with the path and these bytes as
 * `\\xNN`.
 */
export async function scanTree(
  dir: string,
  unnamed: (shown: string) => void = () => undefined,
): Promise<Map<string, LocalFile>> {
  const files = new Map<string, LocalFile>();
  const pending = [''];
  for (let folder = pending.pop(); folder !== undefined; folder = pending.pop()) {
    const options = { withFileTypes: true, encoding: 'buffer' } as const;
    const entries = await readdir(join(dir, folder), options).catch(absent);
    for (const entry of entries ?? []) {
      const name = entry.name as Buffer;
      const path = join(folder, name.toString());
      if (!isUtf8(name)) {
        if (entry.isFile() || entry.isDirectory()) unnamed(join(folder, shownBytes(name)));
        continue;
      }
      if (entry.isDirectory()) pending.push(path);
      if (!entry.isFile()) continue;
      const found = await lstat(join(dir, path)).catch(absent);
      if (found?.isFile())
        files.set(path, { size: found.size, modifiedMs: found.mtimeMs, mode: found.mode & 0o777 });
    }
  }
  return files;
}

function shownBytes(name: Buffer): string {
  return name
    .toString('latin1')
    .replace(/[^ -~]/g, (char) => `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`);
}

/** Returns whether `path` really lies below `dir`: no folder on the way is a link. */
async function isInside(dir: string, path: string): Promise<boolean> {
  const [root, folder] = await Promise.all([realpath(dir), realpath(dirname(join(dir, path)))]);
  return folder === join(root, dirname(path));
}

/** Opens a plain file below `dir` for reading; null when there is none, or a link is on the way. */
export async function openInside(dir: string, path: string): Promise<FileHandle | null> {
  try {
    const file = await open(
      join(dir, path),
      constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK,
    );
    if ((await file.stat()).isFile() && (await isInside(dir, path))) return file;
    await file.close();
    return null;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return null;
    return absent(error as NodeJS.ErrnoException);
  }
}

/** Writes a file atomically; null when a file or link is in the place of one of its folders. */
export async function placeInside(
  dir: string,
  path: string,
  content: AsyncIterable<Uint8Array>,
  about: { mode: number; modifiedUs: number; account: Account },
): Promise<LocalFile | null> {
  if (!(await makeFolders(dir, path, about.account))) return null;
  const target = join(dir, path);
  // Beside the folder: inside it, an operation could take the part for one of its own files.
  const part = join(dirname(dir), `.${newId()}.part`);
  const file = await open(part, 'wx', about.mode);
  try {
    for await (const chunk of content) await file.writeFile(chunk);
    await file.chmod(about.mode);
    if (about.account) await file.chown(about.account.uid, about.account.gid);
    const seconds = about.modifiedUs / 1e6;
    await file.utimes(seconds, seconds);
    await file.close();
    await rename(part, target);
  } catch (error) {
    await file.close().catch(() => undefined);
    await rm(part, { force: true });
    throw error;
  }
  const found = await lstat(target);
  return { size: found.size, modifiedMs: found.mtimeMs, mode: about.mode };
}

async function makeFolders(dir: string, path: string, account: Account): Promise<boolean> {
  const segments = path.split('/').slice(0, -1);
  for (let at = 1; at <= segments.length; at++) {
    const folder = join(dir, ...segments.slice(0, at));
    const there = await lstat(folder).catch(absent);
    if (there !== null && !there.isDirectory()) return false;
    if (there !== null) continue;
    await mkdir(folder, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    if (account) await chown(folder, account.uid, account.gid);
  }
  return isInside(dir, path);
}

/** Removes a file of the tree; a missing file is no error. */
export async function removeInside(dir: string, path: string): Promise<void> {
  if (await isInside(dir, path).catch(absent)) await rm(join(dir, path), { force: true });
}

/** Creates a folder for scripts under `root`; they may pass through `root` but not list it. */
export async function makeFolder(
  root: string,
  segments: readonly string[],
  account: Account,
): Promise<string> {
  const parent = join(root, ...segments.slice(0, -1));
  await mkdir(parent, { recursive: true, mode: account ? 0o711 : 0o700 });
  const dir = join(parent, segments.at(-1)!);
  await mkdir(dir, { recursive: true, mode: 0o700 });
  if (account) await chown(dir, account.uid, account.gid);
  return dir;
}
