import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { makeWorkFolder, workFolderOf } from './work-folder';

/** The standalone's data: one folder, readable by its owner only. */
export interface Home {
  dir: string;
  postgresDir: string;
  blobsDir: string;
  /** Where operations run: outside of `dir`, so that nobody has to be let through to it. */
  workDir: string;
  internalKey: string;
  secretsKeyFile: string;
  /** Where a generated admin password is kept. */
  adminPasswordFile: string;
}

export function homeFolder(path: string | undefined): string {
  return resolve(path ?? join(homedir(), '.baton'));
}

/** The folder alone, which its owner then fills. */
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

/** Fills the home of which this process is the owner; keys are made once and stay. */
export function openHome(dir: string): Home {
  const paths = homePaths(dir);
  makeWorkFolder(paths.workDir);
  keep(paths.secretsKeyFile, () => randomBytes(32).toString('base64'));
  return {
    ...paths,
    internalKey: keep(join(dir, 'internal.key'), () => randomBytes(32).toString('base64url')),
  };
}

/** A key file without a key is one that a full disk or a kill left behind: nothing was ever made with it. */
function keep(file: string, make: () => string): string {
  const kept = existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  if (kept !== '') return kept;
  const made = make();
  const beside = `${file}.new`;
  writeFileSync(beside, `${made}\n`, { mode: 0o600, flush: true });
  renameSync(beside, file);
  return made;
}
