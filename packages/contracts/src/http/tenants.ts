import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, queryBoolean, resourceId } from './shapes';

const counted = z.number().int();
const memberRoles = z.object({ 'tenant-role': z.string().nullable(), roles: z.array(z.string()) });

/** A tenant (reference/rest-api.md 2.8). `groups` and `users` are counts, or objects with `_get_data=true`. */
export const tenant = z
  .object({
    name: z.string(),
    groups: z.union([counted, z.record(z.string(), z.string())]),
    users: z.union([counted, z.record(z.string(), memberRoles)]),
    user_roles: z
      .object({
        direct: z.record(z.string(), z.string()),
        groups: z.record(z.string(), z.object({ role: z.string(), users: z.array(z.string()) })),
      })
      .nullable(),
    // Tenants share one broker here, so there is nothing to tell.
    rabbitmq_username: z.string().nullable(),
    rabbitmq_password: z.string().nullable(),
    rabbitmq_vhost: z.string().nullable(),
  })
  .meta({ id: 'Tenant' });
export type TenantAnswer = z.infer<typeof tenant>;
export const tenantFields = Object.keys(tenant.shape) as (keyof TenantAnswer)[];

const getData = z.object({ _get_data: queryBoolean.optional() });
const tenantUser = z.object({ tenant_name: resourceId, username: resourceId, role: z.string() });
const tenantGroup = z.object({ tenant_name: resourceId, group_name: resourceId, role: z.string() });
const shared = { owner: 'identity', tenant: 'optional', versions: ['v3.1'], spec: 'reference 2.8' } as const;
const changed = { includeFields: tenantFields, status: 200, response: tenant } as const;

export const tenantsRoutes = defineRoutes([
  {
    id: 'listTenants',
    method: 'GET',
    path: '/tenants',
    permission: 'tenant_list',
    summary: 'Tenants that the user may see',
    ...shared,
    query: getData,
    list: {
      fields: tenantFields,
      filters: ['name'],
      sorts: ['name'],
      search: 'name',
      defaultSort: [],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(tenant),
  },
  // The tenant that counts for these six is the one in the body: the handlers check the permission there once more.
  {
    id: 'addTenantUser',
    method: 'PUT',
    path: '/tenants/users',
    permission: 'tenant_add_user',
    summary: 'Add a user to a tenant',
    ...shared,
    body: tenantUser,
    ...changed,
  },
  {
    id: 'updateTenantUser',
    method: 'PATCH',
    path: '/tenants/users',
    permission: 'tenant_update_user',
    summary: "Change a user's role in a tenant",
    ...shared,
    body: tenantUser,
    ...changed,
  },
  {
    id: 'removeTenantUser',
    method: 'DELETE',
    path: '/tenants/users',
    permission: 'tenant_remove_user',
    summary: 'Remove a user from a tenant',
    ...shared,
    body: tenantUser.omit({ role: true }),
    status: 204,
  },
  {
    id: 'addTenantGroup',
    method: 'PUT',
    path: '/tenants/user-groups',
    permission: 'tenant_add_group',
    summary: 'Add a user group to a tenant',
    ...shared,
    body: tenantGroup,
    ...changed,
  },
  {
    id: 'updateTenantGroup',
    method: 'PATCH',
    path: '/tenants/user-groups',
    permission: 'tenant_update_group',
    summary: "Change a user group's role in a tenant",
    ...shared,
    body: tenantGroup,
    ...changed,
  },
  {
    id: 'removeTenantGroup',
    method: 'DELETE',
    path: '/tenants/user-groups',
    permission: 'tenant_remove_group',
    summary: 'Remove a user group from a tenant',
    ...shared,
    body: tenantGroup.omit({ role: true }),
    status: 204,
  },
  {
    id: 'getTenant',
    method: 'GET',
    // A path parameter of this name is the tenant in which the permission is checked.
    path: '/tenants/:tenant_name',
    params: z.object({ tenant_name: resourceId }),
    permission: 'tenant_get',
    summary: 'One tenant',
    ...shared,
    query: getData,
    ...changed,
  },
  {
    id: 'createTenant',
    method: 'POST',
    path: '/tenants/:name',
    params: z.object({ name: resourceId }),
    permission: 'tenant_create',
    summary: 'Create a tenant',
    ...shared,
    body: z.looseObject({ rabbitmq_password: z.string().optional() }),
    isBodyOptional: true,
    includeFields: tenantFields,
    status: 201,
    response: tenant,
  },
  {
    id: 'deleteTenant',
    method: 'DELETE',
    path: '/tenants/:name',
    params: z.object({ name: resourceId }),
    permission: 'tenant_delete',
    summary: 'Delete an empty tenant',
    ...shared,
    status: 204,
  },
]);
