import type { Principal } from '@baton/contracts';
import { isForExecutions } from './execution-rights';
import { isConsolePermission } from './permissions';
import { defaultSystemRole, lowestRole, type Role } from './roles';

/** Id of the user that is created at the first start; it bypasses every permission check (reference/rest-api.md 2.4). */
export const bootstrapAdminId = 0;
const allTenants = 'all_tenants';

/** Roles and their permissions as stored in the database at `revision`. */
export interface Authorization {
  revision: number;
  roles: readonly Role[];
  /** role -> permission names, console-only ones left out. */
  permissions: ReadonlyMap<string, ReadonlySet<string>>;
}

export function buildAuthorization(
  revision: number,
  roles: readonly Role[],
  grants: readonly { role: string; permission: string }[],
): Authorization {
  const permissions = new Map<string, Set<string>>(roles.map((role) => [role.name, new Set()]));
  for (const { role, permission } of grants)
    if (!isConsolePermission(permission)) permissions.get(role)?.add(permission);
  return { revision, roles, permissions };
}

/** The fields of a user that decide about its rights. */
export interface UserRights {
  id: number;
  username: string;
  role: string;
  /** System roles of the user's groups. */
  groupRoles: readonly string[];
  /** Direct roles and roles by groups, in the requested tenants. */
  tenantRoles: readonly { tenant: string; role: string }[];
}

/** Returns every permission that at least one of the roles holds. */
export function permissionsOf(authorization: Authorization, roles: readonly string[]): Set<string> {
  const held = new Set<string>();
  for (const role of roles)
    for (const permission of authorization.permissions.get(role) ?? []) held.add(permission);
  return held;
}

function holds(authorization: Authorization, roles: readonly string[], permission: string): boolean {
  return roles.some((role) => authorization.permissions.get(role)?.has(permission));
}

const unique = (names: readonly string[]): string[] => [...new Set(names)];

/** Returns the system roles of the user: its own and those of its groups. */
function systemRolesOf(user: UserRights): string[] {
  return unique([user.role, ...user.groupRoles]);
}

/** Returns the roles that count in `tenant` (empty: only the system roles). */
export function rolesIn(user: UserRights, tenant: string): string[] {
  const ofTenant = user.tenantRoles.filter((entry) => entry.tenant === tenant).map((entry) => entry.role);
  return unique([...systemRolesOf(user), ...ofTenant]);
}

export interface PrincipalRequest {
  tenant: string;
  authMethod: Principal['authMethod'];
  executionId?: string;
  /** See AuthenticateRequest.all_tenants_permission; empty for one-tenant requests. */
  allTenantsPermission: string;
  /** Include only the permissions that the code of an execution in `tenant` may have (execution-rights.ts). */
  isForExecution?: boolean;
}

/**
 * Builds the caller with its rights (reference/rest-api.md 2.4). The bootstrap admin carries no permission names: `hasPermission`
 * is always true for it, and the header between the services stays short.
 */
export function buildPrincipal(
  user: UserRights,
  authorization: Authorization,
  request: PrincipalRequest,
): Principal {
  const isBootstrapAdmin = user.id === bootstrapAdminId;
  const roles = rolesIn(user, request.tenant);
  if (request.isForExecution) return ofExecution(user, authorization, request, roles);
  return {
    userId: user.id,
    username: user.username,
    tenant: request.tenant,
    role: lowestRole(authorization.roles, systemRolesOf(user)),
    roles,
    permissions: isBootstrapAdmin ? [] : [...permissionsOf(authorization, roles)],
    tenants: reachableTenants(user, authorization, request, isBootstrapAdmin),
    authMethod: request.authMethod,
    executionId: request.executionId ?? '',
    isBootstrapAdmin,
  };
}

/**
 * Builds the principal of an execution: bound to its tenant, without the bypass of the bootstrap admin, and only with permissions
 * that can be granted to a user.
 */
function ofExecution(
  user: UserRights,
  authorization: Authorization,
  { tenant, authMethod, executionId }: PrincipalRequest,
  roles: string[],
): Principal {
  const isBootstrapAdmin = user.id === bootstrapAdminId;
  const held = isBootstrapAdmin
    ? permissionsOf(authorization, [...authorization.permissions.keys()])
    : permissionsOf(authorization, roles);
  const systemRoles = new Set(
    authorization.roles.filter(({ type }) => type === 'system_role').map(({ name }) => name),
  );
  const ofTenant = roles.filter((role) => !systemRoles.has(role) || role === defaultSystemRole);
  const isMember = user.tenantRoles.some((entry) => entry.tenant === tenant);
  return {
    userId: user.id,
    username: user.username,
    tenant,
    // Services let system administrators read beyond their tenant, so this principal is none.
    role: defaultSystemRole,
    roles: ofTenant,
    permissions: [...held].filter(isForExecutions),
    // A user who sees every tenant need not be a member of this one.
    tenants: isMember || isBootstrapAdmin || held.has(allTenants) ? [{ name: tenant, roles: ofTenant }] : [],
    authMethod,
    executionId: executionId ?? '',
    isBootstrapAdmin: false,
  };
}

function reachableTenants(
  user: UserRights,
  authorization: Authorization,
  { tenant, allTenantsPermission }: PrincipalRequest,
  isBootstrapAdmin: boolean,
): Principal['tenants'] {
  const names = unique(user.tenantRoles.map((entry) => entry.tenant)).sort();
  const all = names.map((name) => ({ name, roles: rolesIn(user, name) }));
  if (allTenantsPermission === '') return all.filter((entry) => entry.name === tenant);
  // They see every tenant anyway; a list of thousands of names would only make the header long.
  if (isBootstrapAdmin || holds(authorization, systemRolesOf(user), allTenants))
    return all.filter((entry) => entry.name === tenant);
  return all.filter((entry) => holds(authorization, entry.roles, allTenantsPermission));
}
