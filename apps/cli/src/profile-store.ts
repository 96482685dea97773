import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { nearestName } from '@baton/kernel';

/** A manager that the command knows by name. A password is kept only as a token that the manager gave for it. */
export interface Profile {
  url: string;
  username?: string;
  token?: string;
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

/** Readable by its owner only: it holds tokens. */
export function writeProfiles(file: string, profiles: Profiles): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, `${JSON.stringify(profiles, null, 2)}\n`, { mode: 0o600 });
}

/** @throws Error naming the nearest profile. */
export function profileNamed(all: Profiles, name: string): Profile {
  const found = all.profiles[name];
  if (found) return found;
  const nearest = nearestName(name, Object.keys(all.profiles));
  throw new Error(`there is no profile ${name}${nearest ? `; did you mean ${nearest}?` : ''}`);
}
