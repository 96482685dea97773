import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { nearestName } from '@baton/kernel';
import { exitCodes } from './exit-codes';
import { CommandFailure } from './failure';

/** A manager with a name on the command line. The profile never holds a password, only a token that the manager issued for it. */
export interface Profile {
  url: string;
  username?: string;
  token?: string;
  /** End of the token; absent for one that an earlier release kept. */
  token_expires?: string | undefined;
  tenant: string;
}

export interface Profiles {
  current: string | null;
  profiles: Record<string, Profile>;
}

export function readProfiles(file: string): Profiles {
  if (!existsSync(file)) return { current: null, profiles: {} };
  return JSON.parse(readFileSync(file, 'utf8')) as Profiles;
}

/**
 * Writes the file so that only its owner can read it: it holds tokens. It is replaced as a whole, so that a process that dies
 * meanwhile leaves the earlier one.
 */
export function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const next = `${file}.${process.pid}`;
  writeFileSync(next, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  renameSync(next, file);
}

/** @throws CommandFailure (not found) naming the nearest profile */
export function profileNamed(all: Profiles, name: string): Profile {
  const found = Object.hasOwn(all.profiles, name) ? all.profiles[name] : undefined;
  if (found) return found;
  const nearest = nearestName(name, Object.keys(all.profiles));
  throw new CommandFailure(
    `there is no profile ${name}${nearest ? `; did you mean ${nearest}?` : ''}`,
    exitCodes.notFound,
  );
}
