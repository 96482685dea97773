import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope } from './shapes';

/** A role (reference/rest-api.md 2.4). */
export const role = z
  .object({ id: z.number().int(), name: z.string(), type: z.string(), description: z.string().nullable() })
  .meta({ id: 'Role' });
export type RoleAnswer = z.infer<typeof role>;

export const rolesRoutes = defineRoutes([
  {
    id: 'listRoles',
    method: 'GET',
    path: '/roles',
    owner: 'identity',
    permission: 'login',
    tenant: 'none',
    versions: ['v3.1'],
    summary: 'Roles of the manager',
    spec: 'reference 2.4',
    list: {
      fields: ['id', 'name', 'type', 'description'],
      filters: ['name', 'type', 'description'],
      sorts: ['id', 'name', 'type', 'description'],
      defaultSort: [{ field: 'id', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(role),
  },
]);
