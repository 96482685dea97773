import { spawn } from 'node:child_process';
import { chown, mkdir, readdir, rm, rmdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Account, Isolation } from '@baton/isolation';
import { newId } from '@baton/kernel';
import type { CtxHost } from '../ctx/ctx-host';
import type { OrphanGuard } from './orphan-guard';

/** How and where scripts run on this machine. */
export interface ScriptSettings {
  /** Folder with bin/ and python/ of this package. */
  assetsDir: string;
  /** Private folder for runs, caches and deployments. */
  workRoot: string;
  /** Command of the Python 3 interpreter. */
  python: string;
  /** Environment that scripts may see; never the worker's own, which holds keys. */
  baseEnv: Record<string, string>;
  /** Address of the manager's API, as scripts reach it. */
  managerUrl: string;
  /** Kills process groups when this process dies. */
  guard: OrphanGuard;
  /** What stands between the processes of an operation and everything else. */
  isolation: Isolation;
  /** Where all runs are called; absent: each makes a port of its own. */
  ctxHost?: CtxHost;
}

/** Assets beside the source of this package; a bundle says where they are instead. */
export const defaultAssetsDir = join(__dirname, '..', '..');

/** A fresh folder of one run. */
export interface RunDir {
  /** The worker's; the account of the operation passes through it and changes nothing directly inside. */
  path: string;
  /** The operation's own. */
  tmp: string;
  cwd: string;
  /** Never throws. */
  remove: () => Promise<void>;
}

/** A fresh folder of a run with `tmp` and `cwd` inside, which belong to the account. A worker that dies: sweepOwnDirs. */
export async function makeRunDir(workRoot: string, account: Account | null): Promise<RunDir> {
  const own = ownDir(workRoot, 'runs');
  await mkdir(own, { recursive: true, mode: 0o711 });
  const path = join(own, newId());
  await mkdir(path, { mode: account ? 0o750 : 0o700 });
  // By the group: the account reads and passes, nobody else does.
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

/**
 * Empties a folder of an account that may still have processes, with the rights of the account: whoever could change a
 * folder into a link while it is walked would choose what the worker deletes.
 */
async function removeAs(account: Account, dir: string): Promise<void> {
  if (await isRemoved(dir)) return;
  // Most often there are only empty folders that something was mounted on. No link is followed in the last part of a path.
  const names = await readdir(dir).catch(() => []);
  if (names.length <= MOST_EMPTY) await Promise.all(names.map((name) => isRemoved(join(dir, name))));
  if (await isRemoved(dir)) return;
  await new Promise<void>((resolve) => {
    const child = spawn('/bin/rm', ['-rf', '--', dir], { cwd: '/', env: {}, stdio: 'ignore', ...account });
    child.once('error', () => resolve());
    child.once('exit', () => resolve());
  });
}

/** More are no mount points. */
const MOST_EMPTY = 8;

function isRemoved(dir: string): Promise<boolean> {
  return rmdir(dir).then(
    () => true,
    () => false,
  );
}

/** `runs`: what runs of operations need; `copies`: working folders of deployments. */
const KINDS = ['runs', 'copies'] as const;

/** The folder of that kind that belongs to this process alone, and goes with it. */
export function ownDir(workRoot: string, kind: (typeof KINDS)[number]): string {
  return join(workRoot, kind, String(process.pid));
}

/** Removes what dead processes left behind; folders of living ones stay. Before anything else uses them. */
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
