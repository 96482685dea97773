import { AppError, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { TenantParts } from '../adapters/tenant-parts';
import { defaultTenant } from '../domain/roles';
import type { DB as Tables } from '../store/tables.gen';
import { abandonedTenants, deleteTenant, lockTenant, setTenantClosing } from '../store/tenants.sql';
import { announceChange } from './announce';

interface Deps {
  db: Db<Tables>;
  tenantParts: TenantParts;
}

/** A removal that takes longer than this was interrupted by a crash. */
const ABANDONED_MS = 60_000;

/**
 * Removes an empty tenant. First the tenant is closed here, so that nobody gets in any more. Then it is closed in the other
 * services, which refuse requests that are on their way and return what the tenant holds. Then it is deleted, or opened again. A
 * crash in between leaves the tenant closed: `reopenAbandonedTenants` opens it again, and a repeated request continues the removal.
 * @throws AppError not_found_error; illegal_action_error for the default tenant or one that is not empty.
 */
export async function removeTenant(deps: Deps, name: string): Promise<void> {
  if (name === defaultTenant)
    throw new AppError('illegal_action_error', `The default tenant \`${name}\` cannot be deleted`);
  await deps.db.tx(async (tx) => {
    const members = await lockTenant(tx, name);
    if (!members) throw notFound('Tenant', name);
    requireNoMembers(name, members);
    await setTenantClosing(tx, name, true);
    await announceChange(tx, '');
  });
  const contents = await deps.tenantParts.close(name).catch(async (error) => {
    await reopen(deps, name);
    throw error;
  });
  if (contents.length > 0) {
    await reopen(deps, name);
    throw notEmpty(name, contents);
  }
  await deps.db.tx(async (tx) => {
    const members = await lockTenant(tx, name);
    if (members === null) return;
    requireNoMembers(name, members);
    await deleteTenant(tx, name);
  });
}

function requireNoMembers(name: string, members: { users: number; groups: number }): void {
  const left = [count(members.users, 'user'), count(members.groups, 'user group')].filter(
    (text) => text !== '',
  );
  if (left.length > 0) throw notEmpty(name, left);
}

async function reopen(deps: Deps, name: string): Promise<void> {
  await deps.tenantParts.open(name, false);
  await deps.db.tx(async (tx) => {
    await setTenantClosing(tx, name, false);
    await announceChange(tx, '');
  });
}

/** Opens the tenants again whose removal was interrupted; a loop calls it. */
export async function reopenAbandonedTenants(deps: Deps): Promise<string[]> {
  const names = await abandonedTenants(deps.db.query, ABANDONED_MS);
  for (const name of names) await reopen(deps, name);
  return names;
}

function notEmpty(name: string, contents: string[]): AppError {
  return new AppError(
    'illegal_action_error',
    `Tenant \`${name}\` is not empty: it has ${contents.join(', ')}`,
    { contents },
  );
}

function count(n: number, word: string): string {
  return n === 0 ? '' : `${n} ${word}${n === 1 ? '' : 's'}`;
}
