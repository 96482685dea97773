import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { workFolderOf } from './work-folder';

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

/** Opens or makes the home; keys are made once and stay. */
export function openHome(path: string | undefined): Home {
  const dir = resolve(path ?? join(homedir(), '.baton'));
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  chmodSync(dir, 0o700);
  const at = (name: string) => join(dir, name);
  keep(at('secrets.key'), () => randomBytes(32).toString('base64'));
  return {
    dir,
    postgresDir: at('postgres'),
    blobsDir: at('blobs'),
    workDir: workFolderOf(dir),
    internalKey: keep(at('internal.key'), () => randomBytes(32).toString('base64url')),
    secretsKeyFile: at('secrets.key'),
    adminPasswordFile: at('admin.password'),
  };
}

function keep(file: string, make: () => string): string {
  if (!existsSync(file)) writeFileSync(file, `${make()}\n`, { mode: 0o600, flag: 'wx' });
  return readFileSync(file, 'utf8').trim();
}
