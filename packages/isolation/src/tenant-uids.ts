import { createHash } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { newId } from '@baton/kernel';
import type { Account } from './port';

/**
 * Assigns one uid to each tenant. The uid is the same for all workers that share the folder and after every restart,
 * because environments of plugins outlive a worker. A tenant gets the uid that its name hashes to, or the next free
 * one. The file `dir/<uid>` holds the tenant's name. The file appears whole or not at all (a hard link to a written
 * file), so a crash in between leaves only the temporary file.
 * @throws Error when every uid of the range belongs to another tenant
 */
export function createTenantUids(
  dir: string,
  { first, last }: { first: number; last: number },
): (tenant: string) => Account {
  const known = new Map<string, Account>();
  const size = last - first + 1;
  const allocate = (tenant: string): Account => {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    const from = createHash('sha256').update(tenant).digest().readUInt32BE(0) % size;
    for (let step = 0; step < size; step++) {
      const uid = first + ((from + step) % size);
      if (holderOf(join(dir, String(uid)), tenant) === tenant) return { uid, gid: uid };
    }
    throw new Error(`all ${size} uids of BATON_WORKER_UID_RANGE belong to other tenants`);
  };
  return (tenant) => {
    const there = known.get(tenant);
    if (there) return there;
    const account = allocate(tenant);
    known.set(tenant, account);
    return account;
  };
}

/** Returns the tenant that the file names. Writes `tenant` when there is no file. */
function holderOf(file: string, tenant: string): string {
  const part = `${file}.${newId()}`;
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  writeFileSync(part, tenant, { mode: 0o600 });
  try {
    linkSync(part, file);
    return tenant;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return readFileSync(file, 'utf8');
  } finally {
    rmSync(part, { force: true });
  }
}
