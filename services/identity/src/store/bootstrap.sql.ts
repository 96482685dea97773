/** Statements of the bootstrap. They are SQL: every start runs them, and a start does not load the client of Prisma. */
import type { Db, Tx } from '@baton/postgres';
import { sql } from 'kysely';
import type { Role } from '../domain/roles';
import type { DB as Tables } from './tables.gen';

/** Id of the advisory lock; it only has to be used by nothing else. */
const LOCK = 7_236_101;

/** Allows one bootstrap at a time: the lock is held until the transaction ends. */
export async function lockBootstrap(tx: Tx<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(tx);
}

export async function hasUsers(db: Db<Tables>['query'] | Tx<Tables>): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined;
}

/** Adds the role unless a role with its name exists. */
export async function insertMissingRole(tx: Tx<Tables>, role: Omit<Role, 'id'>): Promise<void> {
  await sql`insert into roles (name, type, description) select ${role.name}, ${role.type}, ${role.description}
    where not exists (select from roles where name = ${role.name})`.execute(tx);
}

/** Adds the tenant unless it exists. */
export async function insertMissingTenant(tx: Tx<Tables>, name: string): Promise<void> {
  await tx
    .insertInto('tenants')
    .values({ name })
    .onConflict((c) => c.doNothing())
    .execute();
}

/** Stores that these permissions were seeded; returns those that were not stored before. */
export async function noteSeeded(tx: Tx<Tables>, permissions: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ permission: string }>`insert into seeded_permissions (permission)
    select unnest(${[...permissions]}::text[]) on conflict do nothing returning permission`.execute(tx);
  return rows.map((row) => row.permission);
}

/** Adds the grants in their order, except those that exist. */
export async function insertMissingGrants(
  tx: Tx<Tables>,
  grants: readonly { role: string; permission: string }[],
): Promise<void> {
  await sql`insert into role_permissions (role, permission)
    select role, permission from unnest(${grants.map((g) => g.role)}::text[], ${grants.map((g) => g.permission)}::text[])
      with ordinality as g (role, permission, place) order by place
    on conflict do nothing`.execute(tx);
}

/** Makes a new user a member of a tenant. */
export async function insertTenantUser(
  tx: Tx<Tables>,
  row: { user_id: number; tenant: string; role: string },
): Promise<void> {
  await tx.insertInto('tenant_users').values(row).execute();
}
