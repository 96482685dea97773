import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@baton/kernel';
import type { Account } from './port';

/** The list of accounts that programs read. */
export const ACCOUNTS = '/etc/passwd';
/** Accounts of operations all have this name: each operation sees only its own. */
const NAME = 'baton-operation';

/**
 * Returns the list of accounts that an operation sees in place of /etc/passwd: with a name for its own account. The uids of tenants
 * stand in no list of the machine, and programs such as ssh refuse to run for an account without a name. Null: nothing is missing.
 * The file of a uid is the same for all workers that share the folder.
 */
export function accountNames(workRoot: string): (account: Account | null) => string | null {
  const known = new Map<number, string | null>();
  return (account) => {
    if (account === null) return null;
    const made = known.has(account.uid) ? known.get(account.uid)! : placeNames(workRoot, account);
    known.set(account.uid, made);
    return made;
  };
}

function placeNames(workRoot: string, { uid, gid }: Account): string | null {
  const listed = textOf(ACCOUNTS);
  // Without the file there is no place to mount on; with another name for the uid nothing is missing.
  if (listed === null || listed.split('\n').some((line) => line.split(':')[2] === String(uid))) return null;
  const folder = join(workRoot, 'accounts');
  const file = join(folder, String(uid));
  const text = `${listed.replace(/\n*$/, '\n')}${NAME}:x:${uid}:${gid}::/tmp:/bin/sh\n`;
  if (textOf(file) !== text) {
    mkdirSync(folder, { recursive: true, mode: 0o711 });
    // Another worker may mount the file at this moment, so it appears whole.
    const part = `${file}.${newId()}`;
    writeFileSync(part, text, { mode: 0o644 });
    renameSync(part, file);
  }
  return file;
}

function textOf(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return null;
  }
}
