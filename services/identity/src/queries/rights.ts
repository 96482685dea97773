import type { Principal } from '@baton/contracts';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { AuthorizationAt } from '../adapters/authorization-cache';
import { permissionsOf, rolesIn } from '../domain/principal';
import { findLoginByName } from '../store/authentication.sql';
import type { DB as Tables } from '../store/tables.gen';

interface Deps {
  db: Db<Tables>;
  authorizationAt: AuthorizationAt;
}

/** For routes whose tenant is in the body: requires that the caller holds `permission` in it (reference/rest-api.md 2.8). */
export async function requirePermissionIn(
  deps: Deps,
  principal: Principal,
  permission: string,
  tenant: string,
): Promise<void> {
  if (principal.isBootstrapAdmin) return;
  const row = await findLoginByName(deps.db, principal.username, tenant, false);
  const authorization = row && (await deps.authorizationAt(row.revision));
  const user = row && {
    id: row.id,
    username: row.username,
    role: row.role,
    groupRoles: row.group_roles,
    tenantRoles: row.tenant_roles,
  };
  if (user && authorization && permissionsOf(authorization, rolesIn(user, tenant)).has(permission)) return;
  throw forbidden(principal, permission, tenant);
}

export function forbidden(principal: Principal, permission: string, tenant: string): AppError {
  const where = tenant === '' ? '' : ` in the tenant \`${tenant}\``;
  return new AppError(
    'forbidden_error',
    `User \`${principal.username}\` is not permitted to perform the action ${permission}${where}`,
  );
}
