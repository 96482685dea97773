import { AppError, badParameter, notFound } from '@baton/kernel';
import { type Db, isUniqueViolation, type Tx } from '@baton/postgres';
import { requireName, requireText } from '../domain/checks';
import { defaultSystemRole, requireRole } from '../domain/roles';
import { listRoles } from '../store/authorization.sql';
import type { DB as Tables } from '../store/tables.gen';
import {
  deleteGroup,
  deleteGroupMember,
  findGroup,
  insertGroup,
  insertGroupMember,
  updateGroupRole,
} from '../store/user-groups.sql';
import { lockUser, type UserRow } from '../store/users.sql';
import { announceChange } from './announce';

interface Deps {
  db: Db<Tables>;
}

/**
 * Creates a user group.
 * @throws AppError bad_parameters_error; conflict_error when name or ldap_dn are taken in any letter case.
 */
export async function createUserGroup(
  deps: Deps,
  group: { name: string; ldapDn?: string | null; role?: string },
): Promise<void> {
  const name = requireName('group_name', group.name);
  // `users` is a path below /user-groups.
  if (name === 'users') throw badParameter('group_name', '`users` is not allowed as a user group name');
  const ldapDn = group.ldapDn ? requireText('ldap_group_dn', group.ldapDn) : null;
  const role = requireRole(
    await listRoles(deps.db.query),
    group.role || defaultSystemRole,
    'system_role',
  ).name;
  try {
    await deps.db.tx((tx) => insertGroup(tx, { name, ldap_dn: ldapDn, role }));
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    const field = isUniqueViolation(error, 'user_groups_ldap_dn_key') ? 'ldap_group_dn' : 'group_name';
    throw new AppError(
      'conflict_error',
      `A user group with this ${field} already exists`,
      { field },
      { cause: error },
    );
  }
}

/** @throws AppError not_found_error; bad_parameters_error. */
export async function changeGroupRole(deps: Deps, name: string, roleName: string): Promise<void> {
  const role = requireRole(await listRoles(deps.db.query), roleName, 'system_role').name;
  await deps.db.tx(async (tx) => {
    if (!(await updateGroupRole(tx, name, role))) throw notFound('UserGroup', name);
    await announceChange(tx, '');
  });
}

/** @throws AppError not_found_error */
export async function removeUserGroup(deps: Deps, name: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    if (!(await deleteGroup(tx, name))) throw notFound('UserGroup', name);
    await announceChange(tx, '');
  });
}

/** @throws AppError not_found_error; conflict_error when the user is in the group. */
export async function addUserToGroup(deps: Deps, group: string, username: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const user = await requireBoth(tx, group, username);
    if (!(await insertGroupMember(tx, group, user.id))) {
      throw new AppError('conflict_error', `User \`${user.username}\` is already in user group \`${group}\``);
    }
    await announceChange(tx, user.username);
  });
}

/** @throws AppError not_found_error, also when the user is not in the group. */
export async function removeUserFromGroup(deps: Deps, group: string, username: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const user = await requireBoth(tx, group, username);
    if (!(await deleteGroupMember(tx, group, user.id))) {
      throw new AppError('not_found_error', `User \`${user.username}\` is not in user group \`${group}\``);
    }
    await announceChange(tx, user.username);
  });
}

async function requireBoth(tx: Tx<Tables>, group: string, username: string): Promise<UserRow> {
  if (!(await findGroup(tx, group))) throw notFound('UserGroup', group);
  const user = await lockUser(tx, username);
  if (!user) throw notFound('User', username);
  return user;
}
