import { Secret } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Passwords } from '../adapters/passwords';
import { requirePassword } from '../domain/checks';
import { defaultGrants, permissionNames } from '../domain/permissions';
import { bootstrapAdminId } from '../domain/principal';
import { defaultRoles, defaultTenant, defaultTenantRole, systemAdmin } from '../domain/roles';
import { randomText } from '../domain/token';
import type { DB as Tables } from '../store/tables.gen';
import { insertUser } from '../store/users.sql';

export const bootstrapAdminName = 'admin';
const PASSWORD_LENGTH = 24;
/** One bootstrap at a time; the number only has to be ours. */
const LOCK = 7_236_101;

export interface Bootstrapped {
  /** True for the one call, of all replicas and starts, that made the administrator. */
  created: boolean;
  /** Only when it was created and no password was given. */
  generatedPassword?: Secret;
}

/**
 * Makes what a new manager needs: roles, permissions, default_tenant and the administrator with user id 0.
 * Safe at every start and on many replicas at once; permissions taken away by an administrator stay away, and
 * permissions that a new release brings are added once.
 */
export async function bootstrapManager(
  deps: { db: Db<Tables>; passwords: Passwords },
  options: { adminPassword?: Secret },
): Promise<Bootstrapped> {
  const known = await deps.db.query.selectFrom('users').select('id').limit(1).executeTakeFirst();
  const generated = options.adminPassword ? undefined : new Secret(randomText(PASSWORD_LENGTH));
  const password = (options.adminPassword ?? generated!).expose();
  // Hashed before the transaction: it takes long. Not at all when there are users already.
  const passwordHash = known ? null : await deps.passwords.hash(requirePassword(password));
  const created = await deps.db.tx(async (tx) => {
    await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
    await seedRoles(tx);
    await seedPermissions(tx);
    await tx
      .insertInto('tenants')
      .values({ name: defaultTenant })
      .onConflict((c) => c.doNothing())
      .execute();
    return passwordHash === null ? false : createAdmin(tx, passwordHash);
  });
  return created && generated ? { created, generatedPassword: generated } : { created };
}

async function seedRoles(tx: Tx<Tables>): Promise<void> {
  // One by one, for ids in the order of the list: the lowest id is the role shown for a user.
  for (const role of defaultRoles) {
    await sql`insert into roles (name, type, description) select ${role.name}, ${role.type}, ${role.description}
      where not exists (select from roles where name = ${role.name})`.execute(tx);
  }
}

async function seedPermissions(tx: Tx<Tables>): Promise<void> {
  const { rows } = await sql<{ permission: string }>`insert into seeded_permissions (permission)
    select unnest(${[...permissionNames]}::text[]) on conflict do nothing returning permission`.execute(tx);
  if (rows.length === 0) return;
  const fresh = new Set(rows.map((row) => row.permission));
  const grants = defaultGrants.filter((grant) => fresh.has(grant.permission));
  await sql`insert into role_permissions (role, permission)
    select role, permission from unnest(${grants.map((g) => g.role)}::text[], ${grants.map((g) => g.permission)}::text[])
      with ordinality as g (role, permission, place) order by place
    on conflict do nothing`.execute(tx);
  await sql`update authorization_state set revision = revision + 1`.execute(tx);
}

async function createAdmin(tx: Tx<Tables>, passwordHash: string): Promise<boolean> {
  const existing = await tx.selectFrom('users').select('id').limit(1).executeTakeFirst();
  if (existing) return false;
  await insertUser(tx, {
    id: bootstrapAdminId,
    username: bootstrapAdminName,
    password_hash: passwordHash,
    role: systemAdmin,
  });
  await tx
    .insertInto('tenant_users')
    .values({ user_id: bootstrapAdminId, tenant: defaultTenant, role: defaultTenantRole })
    .execute();
  return true;
}
