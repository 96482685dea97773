import { AppError, badParameter } from '@baton/kernel';
import { type Db, isUniqueViolation } from '@baton/postgres';
import { isPasswordHash, type Passwords } from '../adapters/passwords';
import { requireName, requirePassword } from '../domain/checks';
import { defaultSystemRole, requireRole } from '../domain/roles';
import { listRoles } from '../store/authorization.sql';
import type { DB as Tables } from '../store/tables.gen';
import { insertUser } from '../store/users.sql';

export interface NewUser {
  username: string;
  password: string;
  role?: string;
  /** The password is already a hash, e.g. from a snapshot. */
  isPrehashed?: boolean;
  createdAt?: string;
  firstLoginAt?: string | null;
  lastLoginAt?: string | null;
}

/**
 * Creates a user and returns its name.
 * @throws AppError bad_parameters_error; conflict_error when the name is taken in any letter case.
 */
export async function createUser(
  deps: { db: Db<Tables>; passwords: Passwords },
  user: NewUser,
): Promise<string> {
  const username = requireName('username', user.username);
  const role = requireRole(
    await listRoles(deps.db.query),
    user.role ?? defaultSystemRole,
    'system_role',
  ).name;
  const passwordHash = user.isPrehashed
    ? requireHash(user.password)
    : await deps.passwords.hash(requirePassword(user.password));
  try {
    await deps.db.tx((tx) =>
      insertUser(tx, {
        username,
        password_hash: passwordHash,
        role,
        ...(user.createdAt === undefined ? {} : { created_at: user.createdAt }),
        first_login_at: user.firstLoginAt ?? null,
        last_login_at: user.lastLoginAt ?? null,
      }),
    );
  } catch (error) {
    if (isUniqueViolation(error, 'users_username_key')) {
      throw new AppError(
        'conflict_error',
        `User \`${username}\` already exists`,
        { field: 'username' },
        { cause: error },
      );
    }
    throw error;
  }
  return username;
}

function requireHash(text: string): string {
  if (isPasswordHash(text)) return text;
  throw badParameter('password', 'Invalid password hash', { expected: 'an argon2 hash in its text form' });
}
