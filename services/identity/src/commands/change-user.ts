import { AppError, notFound } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { isServiceAccount } from '../accounts/store/accounts.sql';
import type { Passwords } from '../adapters/passwords';
import { requirePassword } from '../domain/checks';
import { bootstrapAdminId } from '../domain/principal';
import { requireRole, systemAdmin } from '../domain/roles';
import { providerOf } from '../providers/store/provider-users.sql';
import { listRoles } from '../store/authorization.sql';
import { deleteSessionsOf } from '../store/sessions.sql';
import type { DB as Tables } from '../store/tables.gen';
import {
  deleteSessionTokens,
  deleteUser,
  lockActiveAdmins,
  lockUser,
  type UserChanges,
  type UserRow,
  updateUser,
} from '../store/users.sql';
import { announceChange } from './announce';

interface Deps {
  db: Db<Tables>;
  passwords: Passwords;
}

export type UserChange = { password: string } | { role: string } | { showGettingStarted: boolean };

/**
 * Changes a user. A new password ends all sessions of the user, including the caller's own.
 * @throws AppError not_found_error; bad_parameters_error; illegal_action_error for the last administrator.
 */
export async function changeUser(deps: Deps, username: string, change: UserChange): Promise<void> {
  if ('role' in change) return changeRole(deps, username, change.role);
  const changes: UserChanges =
    'password' in change
      ? { password_hash: await deps.passwords.hash(requirePassword(change.password)) }
      : { show_getting_started: change.showGettingStarted };
  await deps.db.tx(async (tx) => {
    const user = await requireUser(tx, username);
    if ('password' in change) await requireLocal(tx, user);
    await updateUser(tx, user.id, changes);
    if (!('password' in change)) return;
    await deleteSessionTokens(tx, user.id);
    await deleteSessionsOf(tx, user.id);
    await announceChange(tx, user.username);
  });
}

/** @throws AppError illegal_action_error for a user of a provider, whose password is kept there, and for a service account */
async function requireLocal(tx: Tx<Tables>, user: UserRow): Promise<void> {
  const provider = await providerOf(tx, user.id);
  if (await isServiceAccount(tx, user.id))
    throw new AppError('illegal_action_error', `Service account \`${user.username}\` has no password`, {
      field: 'password',
      expected: 'tokens: POST /service-accounts/{name}/tokens',
    });
  if (provider === null) return;
  throw new AppError(
    'illegal_action_error',
    `User \`${user.username}\` signs in at identity provider \`${provider}\` and has no password here`,
    { field: 'password', expected: 'a change at the provider' },
  );
}

async function changeRole(deps: Deps, username: string, name: string): Promise<void> {
  const role = requireRole(await listRoles(deps.db.query), name, 'system_role').name;
  await deps.db.tx(async (tx) => {
    const user = await requireRemovable(tx, username, role !== systemAdmin, 'demoted');
    await updateUser(tx, user.id, { role });
    await announceChange(tx, user.username);
  });
}

/**
 * Activates or deactivates a user; returns false when nothing changes. Deactivation ends the user's sessions.
 * @throws AppError not_found_error; illegal_action_error for the last administrator.
 */
export async function setUserActive(
  deps: Pick<Deps, 'db'>,
  username: string,
  active: boolean,
): Promise<boolean> {
  return deps.db.tx(async (tx) => {
    const user = await requireRemovable(tx, username, !active, 'deactivated');
    if (user.active === active) return false;
    await updateUser(tx, user.id, { active });
    // Otherwise the sessions would be valid again after the next activation.
    if (!active) await deleteSessionsOf(tx, user.id);
    await announceChange(tx, user.username);
    return true;
  });
}

/** Resets the user's failed logins. @throws AppError not_found_error */
export async function unlockUser(deps: Pick<Deps, 'db'>, username: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const user = await requireUser(tx, username);
    await updateUser(tx, user.id, { failed_logins: 0 });
  });
}

/**
 * Deletes a user, together with its tokens, sessions, preferences and memberships.
 * @throws AppError not_found_error; illegal_action_error for the last administrator and for the first user of the manager.
 */
export async function removeUser(deps: Pick<Deps, 'db'>, username: string): Promise<void> {
  await deps.db.tx(async (tx) => {
    const user = await requireRemovable(tx, username, true, 'deleted');
    // Only this user may restore a snapshot (reference/rest-api.md 5.25), and no other user can take its place.
    if (user.id === bootstrapAdminId)
      throw new AppError(
        'illegal_action_error',
        `User \`${user.username}\` was made with the manager and cannot be deleted`,
        { expected: 'deactivate the user instead' },
      );
    await deleteUser(tx, user.id);
    await announceChange(tx, user.username);
  });
}

async function requireUser(tx: Tx<Tables>, username: string): Promise<UserRow> {
  const user = await lockUser(tx, username);
  if (!user) throw notFound('User', username);
  return user;
}

/** Returns the user with its row locked; refuses when `isRemoval` would leave no active administrator. */
async function requireRemovable(
  tx: Tx<Tables>,
  username: string,
  isRemoval: boolean,
  verb: string,
): Promise<UserRow> {
  // Locks administrators first, then the user: the same order in every transaction.
  const admins = isRemoval ? await lockActiveAdmins(tx) : [];
  const user = await requireUser(tx, username);
  if (isRemoval && admins.length === 1 && admins[0] === user.id) {
    throw new AppError(
      'illegal_action_error',
      `User \`${user.username}\` is the last active administrator and cannot be ${verb}`,
    );
  }
  return user;
}
