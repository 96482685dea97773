import { spawn } from 'node:child_process';
import { chown, lstat, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account, Isolation } from '@baton/isolation';
import { newId } from '@baton/kernel';
import type { CtxHost } from '../ctx/ctx-host';
import type { OrphanGuard } from './orphan-guard';

/** How and where scripts run on this machine. */
export interface ScriptSettings {
  /** Folder with `bin/` and `python/` of this package. */
  assetsDir: string;
  /** Private folder for runs, caches and deployments. */
  workRoot: string;
  /** Command of the Python 3 interpreter. */
  python: string;
  /** Environment for scripts; never the worker's own environment, which holds keys. */
  baseEnv: Record<string, string>;
  /** Address of the manager's API for scripts. */
  managerUrl: string;
  /** Kills process groups when this process dies. */
  guard: OrphanGuard;
  /** Separates the processes of an operation from the rest of the machine. */
  isolation: Isolation;
  /** The shared server for ctx calls of all runs; absent: each run opens its own port. */
  ctxHost?: CtxHost;
  /** Program and first arguments that run a file of JavaScript; absent: Node.js, by which this process runs. */
  javascript?: readonly string[];
}

/** Assets beside the source of this package; a bundle passes another folder. */
export const defaultAssetsDir = join(__dirname, '..', '..');

/** A fresh folder of one run. */
export interface RunDir {
  /** Owned by the worker; the account of the operation may pass through it and change nothing directly in it. */
  path: string;
  /** Owned by the operation. */
  tmp: string;
  cwd: string;
  /** Never throws. */
  remove: () => Promise<void>;
}

/**
 * Makes a fresh folder of a run with `tmp` and `cwd` inside, which belong to the account. After the death of a worker
 * see sweepOwnDirs.
 */
export async function makeRunDir(workRoot: string, account: Account | null): Promise<RunDir> {
  const own = ownDir(workRoot, 'runs');
  await mkdir(own, { recursive: true, mode: 0o711 });
  const path = join(own, newId());
  await mkdir(path, { mode: account ? 0o750 : 0o700 });
  // By group rights the account can read and pass through; no other account can.
  if (account) await chown(path, 0, account.gid);
  const [tmp, cwd] = [join(path, 'tmp'), join(path, 'cwd')];
  for (const dir of [tmp, cwd]) {
    await mkdir(dir, { mode: 0o700 });
    if (account) await chown(dir, account.uid, account.gid);
  }
  const remove = async (): Promise<void> => {
    if (account) for (const dir of [tmp, cwd]) await removeAs(account, dir);
    await rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  };
  return { path, tmp, cwd, remove };
}

/** Names of the entries of a folder; none when it cannot be read. */
export async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

/**
 * Removes what an operation left in its folders, except the `first` entries, which are mount points. False: the folders
 * are not as they were. No process of the operation may be left. Never throws.
 */
export async function emptyRunDir(
  { path, tmp, cwd }: RunDir,
  first: { tmp: readonly string[]; cwd: readonly string[] },
  account: Account | null,
): Promise<boolean> {
  for (const [dir, kept] of [
    [tmp, first.tmp],
    [cwd, first.cwd],
  ] as const) {
    const left = (await namesIn(dir)).filter((name) => !kept.includes(name)).map((name) => join(dir, name));
    if (left.length > MOST_LEFT) return false;
    if (left.length > 0) await removePaths(left, account);
    const found = await lstat(dir).catch(() => null);
    if ((found?.mode ?? 0) % 0o1000 !== 0o700 || (await namesIn(dir)).length !== kept.length) return false;
  }
  return (await namesIn(path)).length === 2;
}

/**
 * Empties a folder of an account that may still have processes, with the rights of the account. Otherwise a process
 * that replaces a folder by a link during the removal could make the worker delete other files.
 */
async function removeAs(account: Account, dir: string): Promise<void> {
  if (await isRemoved(dir)) return;
  // Usually only empty folders that were mount points are left. `rmdir` does not follow a link in the last part of a
  // path.
  const names = await readdir(dir).catch(() => []);
  if (names.length <= MOST_EMPTY) await Promise.all(names.map((name) => isRemoved(join(dir, name))));
  if (!(await isRemoved(dir))) await removePaths([dir], account);
}

function removePaths(paths: readonly string[], account: Account | null): Promise<void> {
  return new Promise((resolve) => {
    const options = { cwd: '/', env: {}, stdio: 'ignore', ...account } as const;
    const child = spawn('/bin/rm', ['-rf', '--', ...paths], options);
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}

/** Most entries whose names one command takes. */
const MOST_LEFT = 500;

/** More entries than this are not only mount points. */
const MOST_EMPTY = 8;

function isRemoved(dir: string): Promise<boolean> {
  return rmdir(dir).then(
    () => true,
    () => false,
  );
}

/** `runs`: folders of runs of operations; `copies`: working folders of deployments. */
const KINDS = ['runs', 'copies'] as const;

/** The folder of this kind that belongs to this process alone, and is removed with it. */
export function ownDir(workRoot: string, kind: (typeof KINDS)[number]): string {
  return join(workRoot, kind, String(process.pid));
}

/** Removes the folders of dead processes; folders of living ones stay. To be called before any other use of the folders. */
export async function sweepOwnDirs(workRoot: string): Promise<void> {
  for (const kind of KINDS)
    for (const name of await readdir(join(workRoot, kind)).catch(() => [])) {
      if (!isAlive(Number(name)) || Number(name) === process.pid)
        await rm(join(workRoot, kind, name), { recursive: true, force: true });
    }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
