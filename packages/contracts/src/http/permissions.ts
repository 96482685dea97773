import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope } from './shapes';

/** One cell of the permission table (reference/rest-api.md 2.6). */
const permissionGrant = z
  .object({ role: z.string(), permission: z.string() })
  .meta({ id: 'PermissionGrant' });

const fields = ['role', 'permission'] as const;
const list = {
  fields,
  filters: fields,
  sorts: fields,
  // Empty: the order in which the permissions were granted.
  defaultSort: [],
  allowsAllTenants: false,
  passedOver: ['filters', '_sort'],
  allowsGetAll: true,
} as const;
// Only administrators by system role may call these routes; others get 401, so the handler decides, not the gateway.
const shared = {
  owner: 'identity',
  permission: 'login',
  tenant: 'none',
  versions: ['v3.1'],
  spec: 'reference 2.6',
} as const;

export const permissionsRoutes = defineRoutes([
  {
    id: 'listPermissions',
    method: 'GET',
    path: '/permissions',
    summary: 'Which role holds which permission',
    ...shared,
    list,
    status: 200,
    response: envelope(permissionGrant),
  },
  {
    id: 'listRolePermissions',
    method: 'GET',
    path: '/permissions/:role_name',
    summary: 'Permissions of one role',
    ...shared,
    list,
    status: 200,
    response: envelope(permissionGrant),
  },
  {
    id: 'grantPermission',
    method: 'PUT',
    path: '/permissions/:role_name/:permission_name',
    summary: 'Grant a permission to a role',
    ...shared,
    status: 200,
    response: permissionGrant,
  },
  {
    id: 'revokePermission',
    method: 'DELETE',
    path: '/permissions/:role_name/:permission_name',
    summary: 'Take a permission from a role',
    ...shared,
    status: 204,
  },
]);
