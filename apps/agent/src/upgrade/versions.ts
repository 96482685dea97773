import { existsSync, readdirSync, readlinkSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { z } from 'zod';
import type { Places } from '../places';
import { readState, writeState } from '../run/state-file';

export const PROGRAM = 'baton-agent';

const upgradeState = z.object({
  version: z.string(),
  state: z.enum(['done', 'running', 'undone']),
  reason: z.string(),
  /** Version before. */
  from: z.string(),
  /** Starts of the new version without a stream so far. */
  starts: z.number(),
});
/** What the last upgrade came to. */
export type UpgradeState = z.infer<typeof upgradeState>;

const FILE = 'upgrade.json';

export const readUpgrade = ({ state }: Places): UpgradeState | null => readState(state, FILE, upgradeState);
/** @throws Error of the disk */
export const writeUpgrade = ({ state }: Places, value: UpgradeState): void => writeState(state, FILE, value);

export const programOf = ({ versions }: Places, version: string): string => join(versions, version, PROGRAM);

/** Returns the version that `current` leads to; null: the agent was not installed in versions. */
export function currentVersion({ current }: Places): string | null {
  try {
    return basename(readlinkSync(current));
  } catch {
    return null;
  }
}

/** Switches `current` to the version, at once. @throws Error of the disk, or when there is no such version */
export function switchTo(places: Places, version: string): void {
  if (!existsSync(programOf(places, version)))
    throw new Error(`there is no version ${version} below ${places.versions}`);
  const next = `${places.current}.next`;
  rmSync(next, { force: true });
  symlinkSync(join('versions', version), next);
  renameSync(next, places.current);
}

/** Goes back to the version before, and says why. @throws Error of the disk */
export function undo(places: Places, upgrade: UpgradeState, reason: string): void {
  switchTo(places, upgrade.from);
  writeUpgrade(places, { ...upgrade, state: 'undone', reason: reason.slice(0, 2000) });
}

/** Removes versions that nobody needs: all but the present one and that before. */
export function removeOthers(places: Places, kept: readonly string[]): void {
  for (const name of readdirSync(places.versions))
    if (!kept.includes(name)) rmSync(join(places.versions, name), { recursive: true, force: true });
}
