import { chown, mkdir, rm } from 'node:fs/promises';
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
  const path = join(settings.workRoot, 'runs', newId());
  for (const dir of [path, join(path, 'tmp'), join(path, 'cwd')]) {
    await mkdir(dir, { recursive: true, mode: 0o700 });
    if (settings.account) await chown(dir, settings.account.uid, settings.account.gid);
  }
  const remove = (): Promise<void> => rm(path, { recursive: true, force: true, maxRetries: 3 }).catch(() => undefined);
  return { path, remove };
}
