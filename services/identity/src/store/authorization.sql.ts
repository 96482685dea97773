import type { Db, Tx } from '@baton/postgres';
import { type Kysely, sql } from 'kysely';
import type { Role } from '../domain/roles';
import { model } from './model';
import type { DB as Tables } from './tables.gen';

type Reader = Kysely<Tables>;

export async function listRoles(db: Reader): Promise<Role[]> {
  const roles = await model.over(db, (p) => p.role.findMany({ orderBy: { id: 'asc' } }));
  // A check constraint of the table guarantees the type.
  return roles as Role[];
}

/** Reads roles, grants and their revision in one statement, so that they are consistent. Called often, so not through Prisma. */
export async function readAuthorization(
  db: Db<Tables>,
): Promise<{ revision: number; roles: Role[]; grants: { role: string; permission: string }[] }> {
  const { rows } = await db.pool.query(
    `select (select revision from authorization_state) as revision,
      (select jsonb_agg(jsonb_build_object('id', id, 'name', name, 'type', type, 'description', description) order by id) from roles) as roles,
      (select jsonb_agg(jsonb_build_object('role', role, 'permission', permission)) from role_permissions) as grants`,
  );
  const { revision, roles, grants } = rows[0];
  return { revision, roles: roles ?? [], grants: grants ?? [] };
}

/** Inserts a grant; returns false when the role had the permission already. */
export async function insertGrant(tx: Tx<Tables>, role: string, permission: string): Promise<boolean> {
  const data = { role, permission };
  const { count } = await model.over(tx, (p) => p.rolePermission.createMany({ data, skipDuplicates: true }));
  return count > 0;
}

/** Deletes a grant; returns false when the role did not have the permission. */
export async function deleteGrant(tx: Tx<Tables>, role: string, permission: string): Promise<boolean> {
  const { count } = await model.over(tx, (p) => p.rolePermission.deleteMany({ where: { role, permission } }));
  return count > 0;
}

/**
 * Raises the revision, by which every replica sees that its copy of the permission table is old. The first start also runs it: not
 * through Prisma.
 */
export async function raiseRevision(tx: Tx<Tables>): Promise<void> {
  await sql`update authorization_state set revision = revision + 1`.execute(tx);
}
