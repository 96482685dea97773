import { chown, mkdir, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@baton/kernel';
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
  /** Kills process groups when this process dies. */
  guard: OrphanGuard;
  /** Unprivileged account for scripts; null: that of the worker. */
  account: { uid: number; gid: number } | null;
}

/** Assets beside the source of this package; a bundle says where they are instead. */
export const defaultAssetsDir = join(__dirname, '..', '..');

/** A fresh private folder of one run with `tmp` and `cwd` inside. `remove` never throws. */
export async function makeRunDir(
  settings: Pick<ScriptSettings, 'workRoot' | 'account'>,
): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = join(settings.workRoot, 'runs', String(process.pid), newId());
  for (const dir of [path, join(path, 'tmp'), join(path, 'cwd')]) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    if (settings.account) await chown(dir, settings.account.uid, settings.account.gid);
  }
  const remove = (): Promise<void> =>
    rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  return { path, remove };
}

/** Removes folders that runs of dead processes left behind; those of living ones, and of other machines, stay. */
export async function sweepRunDirs(workRoot: string): Promise<void> {
  const runs = join(workRoot, 'runs');
  for (const name of await readdir(runs).catch(() => [])) {
    if (!isAlive(Number(name)) || Number(name) === process.pid)
      await rm(join(runs, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
