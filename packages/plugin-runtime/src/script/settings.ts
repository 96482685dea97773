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
  /** Address of the manager's API, as scripts reach it. */
  managerUrl: string;
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
  const path = join(ownDir(settings.workRoot, 'runs'), newId());
  for (const dir of [path, join(path, 'tmp'), join(path, 'cwd')]) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    if (settings.account) await chown(dir, settings.account.uid, settings.account.gid);
  }
  const remove = (): Promise<void> =>
    rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  return { path, remove };
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
