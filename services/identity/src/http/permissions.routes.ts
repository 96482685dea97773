import { isAdministrator, type Principal } from '@baton/contracts';
import { permissionsRoutes } from '@baton/contracts/http/permissions';
import { rolesRoutes } from '@baton/contracts/http/roles';
import { type BoundRoute, bindRoutes, listEnvelope } from '@baton/http';
import { AppError } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import { grantPermission, requireKnownRole, revokePermission } from '../commands/permissions';
import { listPermissions, listRolesPage } from '../queries/permissions';
import type { DB as Tables } from '../store/tables.gen';

export function permissionsHttp(deps: { db: Db<Tables> }): BoundRoute[] {
  const permissions = bindRoutes(permissionsRoutes, {
    listPermissions: async (call) => {
      requireAdministrator(call.principal);
      return listEnvelope(await listPermissions(deps, call.list), call.list);
    },
    listRolePermissions: async (call) => {
      requireAdministrator(call.principal);
      const role = call.params.role_name!;
      await requireKnownRole(deps, role);
      return listEnvelope(await listPermissions(deps, call.list, role), call.list);
    },
    grantPermission: async (call) => {
      requireAdministrator(call.principal);
      const { role_name: role, permission_name: permission } = call.params;
      await grantPermission(deps, role!, permission!);
      return { role, permission };
    },
    revokePermission: async (call) => {
      requireAdministrator(call.principal);
      await revokePermission(deps, call.params.role_name!, call.params.permission_name!);
    },
  });
  const roles = bindRoutes(rolesRoutes, {
    listRoles: async (call) => listEnvelope(await listRolesPage(deps, call.list), call.list),
  });
  return [...permissions, ...roles];
}

/** Requires a system role: these routes have no tenant. The original answers 401, not 403 (reference/rest-api.md 2.6). */
function requireAdministrator(principal: Principal): void {
  if (isAdministrator(principal)) return;
  throw new AppError(
    'unauthorized_error',
    `User unauthorized: \`${principal.username}\` is not an administrator`,
  );
}
