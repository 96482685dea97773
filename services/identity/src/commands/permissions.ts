import { AppError, notFound } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { requireText } from '../domain/checks';
import { deleteGrant, insertGrant, listRoles, raiseRevision } from '../store/authorization.sql';
import type { DB as Tables } from '../store/tables.gen';
import { announceChange } from './announce';

interface Deps {
  db: Db<Tables>;
}
const MAX_NAME = 256;

/**
 * Grants a permission to a role. The permission name is free text (reference/rest-api.md 2.6).
 * @throws AppError not_found_error; conflict_error.
 */
export async function grantPermission(deps: Deps, role: string, permission: string): Promise<void> {
  requireText('permission', permission, MAX_NAME);
  await requireKnownRole(deps, role);
  await deps.db.tx(async (tx) => {
    if (!(await insertGrant(tx, role, permission))) {
      throw new AppError('conflict_error', `Role \`${role}\` already has permission \`${permission}\``);
    }
    await raiseRevision(tx);
    await announceChange(tx, '');
  });
}

/** Revokes a permission of a role. @throws AppError not_found_error */
export async function revokePermission(deps: Deps, role: string, permission: string): Promise<void> {
  requireText('permission', permission, MAX_NAME);
  await requireKnownRole(deps, role);
  await deps.db.tx(async (tx) => {
    if (!(await deleteGrant(tx, role, permission))) {
      throw new AppError('not_found_error', `Role \`${role}\` has no permission \`${permission}\``);
    }
    await raiseRevision(tx);
    await announceChange(tx, '');
  });
}

/** @throws AppError not_found_error */
export async function requireKnownRole(deps: Deps, name: string): Promise<void> {
  const roles = await listRoles(deps.db.query);
  if (!roles.some((role) => role.name === name)) throw notFound('Role', name);
}
