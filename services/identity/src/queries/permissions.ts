import type { ListPage, ListQuery } from '@baton/contracts';
import type { RoleAnswer } from '@baton/contracts/http/roles';
import { type Db, selectPage } from '@baton/postgres';
import { type SqlBool, sql } from 'kysely';
import type { Role } from '../domain/roles';
import { readAuthorization } from '../store/authorization.sql';
import type { DB as Tables } from '../store/tables.gen';

interface Deps {
  db: Db<Tables>;
}

/** Lists the grants of the permission table; only those of one role when `role` is given. */
export async function listPermissions(
  deps: Deps,
  list: ListQuery,
  role?: string,
): Promise<ListPage<{ role: string; permission: string }>> {
  return selectPage({
    db: deps.db.query,
    from: sql`role_permissions p`,
    columns: { role: sql`p.role`, permission: sql`p.permission` },
    list,
    where: role === undefined ? [] : [sql<SqlBool>`p.role = ${role}`],
    tieBreak: sql`p.id`,
  });
}

export async function listRolesPage(deps: Deps, list: ListQuery): Promise<ListPage<RoleAnswer>> {
  return selectPage<RoleAnswer>({
    db: deps.db.query,
    from: sql`roles r`,
    columns: { id: sql`r.id`, name: sql`r.name`, type: sql`r.type`, description: sql`r.description` },
    list,
    tieBreak: sql`r.id`,
  });
}

/** Returns all roles in the order of their ids, and for each permission the names of the roles that have it. */
export async function getAuthorization(
  deps: Deps,
): Promise<{ roles: Role[]; permissions: { permission: string; roles: string[] }[] }> {
  const { roles, grants } = await readAuthorization(deps.db);
  const holders = new Map<string, string[]>();
  for (const { permission, role } of grants)
    holders.set(permission, [...(holders.get(permission) ?? []), role]);
  return { roles, permissions: [...holders].map(([permission, names]) => ({ permission, roles: names })) };
}
