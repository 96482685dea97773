import { badParameter, nearestName } from '@baton/kernel';

export type RoleType = 'system_role' | 'tenant_role';

/** Roles of a new manager (reference/rest-api.md 2.4), in the order of their ids. */
export const defaultRoles: readonly { name: string; type: RoleType; description: string }[] = [
  { name: 'sys_admin', type: 'system_role', description: 'May do everything on the manager' },
  {
    name: 'manager',
    type: 'tenant_role',
    description: 'Manages the resources of a tenant, private ones too',
  },
  {
    name: 'user',
    type: 'tenant_role',
    description: 'Works with the resources of a tenant and creates new ones',
  },
  {
    name: 'operations',
    type: 'tenant_role',
    description: 'Deploys and runs workflows, leaves blueprints and plugins alone',
  },
  { name: 'viewer', type: 'tenant_role', description: 'Reads the resources of a tenant' },
  { name: 'default', type: 'system_role', description: 'A user without special rights' },
];

export const systemAdmin = 'sys_admin';
export const defaultSystemRole = 'default';
export const defaultTenantRole = 'user';
export const defaultTenant = 'default_tenant';

export interface Role {
  id: number;
  name: string;
  type: string;
  description: string | null;
}

/**
 * Returns the role called `name` if it has the required type.
 * @throws AppError bad_parameters_error naming the roles of that type.
 */
export function requireRole(roles: readonly Role[], name: string, type: RoleType): Role {
  const fitting = roles.filter((role) => role.type === type);
  const found = fitting.find((role) => role.name === name);
  if (found) return found;
  const names = fitting.map((role) => role.name);
  const kind = type === 'system_role' ? 'system' : 'tenant';
  throw badParameter(
    'role',
    `Invalid role \`${name}\`: expected a ${kind} role, one of ${names.join(', ')}`,
    {
      expected: names,
      nearest: nearestName(name, names),
    },
  );
}

/** Returns the role name with the lowest id among `names`; the default system role when there is none. */
export function lowestRole(roles: readonly Role[], names: readonly string[]): string {
  return (
    roles.filter((role) => names.includes(role.name)).sort((a, b) => a.id - b.id)[0]?.name ??
    defaultSystemRole
  );
}
