import { Secret } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import type { Passwords } from '../adapters/passwords';
import { requirePassword } from '../domain/checks';
import { defaultGrants, permissionNames } from '../domain/permissions';
import { bootstrapAdminId } from '../domain/principal';
import { defaultRoles, defaultTenant, defaultTenantRole, systemAdmin } from '../domain/roles';
import { randomText } from '../domain/token';
import { raiseRevision } from '../store/authorization.sql';
import {
  hasUsers,
  insertMissingGrants,
  insertMissingRole,
  insertMissingTenant,
  insertTenantUser,
  lockBootstrap,
  noteSeeded,
} from '../store/bootstrap.sql';
import type { DB as Tables } from '../store/tables.gen';
import { insertUser } from '../store/users.sql';

export const bootstrapAdminName = 'admin';
const PASSWORD_LENGTH = 24;

export interface Bootstrapped {
  /** True only for the one call, among all replicas and starts, that created the administrator. */
  created: boolean;
  /** Set only when the administrator was created and no password was given. */
  generatedPassword?: Secret;
}

/**
 * Creates the basic data of a new manager: roles, permissions, default_tenant and the administrator with user id 0. Safe at every
 * start and on many replicas at once. Permissions that an administrator has revoked stay revoked; permissions that a new release
 * brings are added once.
 */
export async function bootstrapManager(
  deps: { db: Db<Tables>; passwords: Passwords },
  options: { adminPassword?: Secret },
): Promise<Bootstrapped> {
  const isSetUp = await hasUsers(deps.db.query);
  const generated = options.adminPassword ? undefined : new Secret(randomText(PASSWORD_LENGTH));
  const password = (options.adminPassword ?? generated!).expose();
  // Hashed before the transaction because it takes long; not hashed at all when users exist already.
  const passwordHash = isSetUp ? null : await deps.passwords.hash(requirePassword(password));
  const created = await deps.db.tx(async (tx) => {
    await lockBootstrap(tx);
    await seedRoles(tx);
    await seedPermissions(tx);
    await insertMissingTenant(tx, defaultTenant);
    return passwordHash === null ? false : createAdmin(tx, passwordHash);
  });
  return created && generated ? { created, generatedPassword: generated } : { created };
}

async function seedRoles(tx: Tx<Tables>): Promise<void> {
  // Inserted one by one, so that the ids follow the order of the list: the role with the lowest id is the one shown for a user.
  for (const role of defaultRoles) await insertMissingRole(tx, role);
}

async function seedPermissions(tx: Tx<Tables>): Promise<void> {
  const fresh = new Set(await noteSeeded(tx, permissionNames));
  if (fresh.size === 0) return;
  await insertMissingGrants(
    tx,
    defaultGrants.filter((grant) => fresh.has(grant.permission)),
  );
  await raiseRevision(tx);
}

async function createAdmin(tx: Tx<Tables>, passwordHash: string): Promise<boolean> {
  if (await hasUsers(tx)) return false;
  await insertUser(tx, {
    id: bootstrapAdminId,
    username: bootstrapAdminName,
    password_hash: passwordHash,
    role: systemAdmin,
  });
  await insertTenantUser(tx, { user_id: bootstrapAdminId, tenant: defaultTenant, role: defaultTenantRole });
  return true;
}
