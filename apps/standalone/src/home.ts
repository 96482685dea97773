import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeWorkFolder, workFolderOf } from './work-folder';

/** The standalone's data: one folder, readable only by its owner. */
export interface Home {
  dir: string;
  postgresDir: string;
  blobsDir: string;
  /** Folder where operations run: outside of `dir`, so that no other user needs access to `dir`. */
  workDir: string;
  internalKey: string;
  secretsKeyFile: string;
  /** File with a generated admin password. */
  adminPasswordFile: string;
}

export function homeFolder(path: string | undefined): string {
  return resolve(path ?? join(homedir(), '.baton'));
}

/** Makes the empty folder; its owner fills it later. */
export function makeHomeFolder(dir: string): void {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
}

export function homePaths(dir: string): Omit<Home, 'internalKey'> {
  const at = (name: string) => join(dir, name);
  return {
    dir,
    postgresDir: at('postgres'),
    blobsDir: at('blobs'),
    workDir: workFolderOf(dir),
    secretsKeyFile: at('secrets.key'),
    adminPasswordFile: at('admin.password'),
  };
}

/** Fills the home that this process owns; keys are created once and kept. */
export function openHome(dir: string): Home {
  const paths = homePaths(dir);
  makeWorkFolder(paths.workDir);
  keep(paths.secretsKeyFile, () => randomBytes(32).toString('base64'));
  return {
    ...paths,
    internalKey: keep(join(dir, 'internal.key'), () => randomBytes(32).toString('base64url')),
  };
}

/**
 * Returns the content of a key file, created when missing. An empty one is the leftover of a full disk or a kill: it was never
 * used.
 */
function keep(file: string, make: () => string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const made = make();
  const beside = `${file}.new`;
  writeFileSync(beside, `${made}\n`, { mode: 0o600, flush: true });
  renameSync(beside, file);
  return made;
}
