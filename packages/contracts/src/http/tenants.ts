import { z } from 'zod';
import { defineRoutes } from '../route';
import { leastWorkerWeight, mostWorkerWeight } from '../tenant-limits';
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
    // All tenants share one broker here, so these fields are null.
    rabbitmq_username: z.string().nullable(),
    rabbitmq_password: z.string().nullable(),
    rabbitmq_vhost: z.string().nullable(),
  })
  .meta({ id: 'Tenant' });
export type TenantAnswer = z.infer<typeof tenant>;
const tenantFields = Object.keys(tenant.shape) as (keyof TenantAnswer)[];

const limit = z
  .number()
  .int()
  .min(-1)
  .max(Number.MAX_SAFE_INTEGER)
  .nullable()
  .optional()
  .describe(
    "-1: no limit, whatever the manager's default is; null: as the manager's default; left out: as it is",
  );

/** Limits that an administrator can set for one tenant. */
export const tenantQuotaChange = z
  .strictObject({
    max_deployments: limit,
    max_running_executions: limit,
    max_queued_executions: limit,
    max_storage_bytes: limit,
    max_requests_per_minute: limit,
    worker_weight: z
      .number()
      .min(leastWorkerWeight)
      .max(mostWorkerWeight)
      .nullable()
      .optional()
      .describe('Part of the places of workers beside tenants of weight 1; null: as workers are configured'),
  })
  .meta({ id: 'TenantQuotaChange' });
export type TenantQuotaChange = z.infer<typeof tenantQuotaChange>;

const quotaField = z.object({
  limit: counted.nullable().describe('In force; null: no limit'),
  own: counted
    .nullable()
    .describe("Set for this tenant, -1: no limit; null: nothing, the manager's default is in force"),
  usage: counted
    .nullable()
    .describe('What the tenant has now; null: it is not counted, or could not be asked for'),
});

/** Limits and usage of a tenant. */
export const tenantQuota = z
  .object({
    tenant_name: z.string(),
    max_deployments: quotaField,
    max_running_executions: quotaField,
    max_queued_executions: quotaField,
    max_storage_bytes: quotaField,
    max_requests_per_minute: quotaField,
    worker_weight: z.number().nullable().describe('null: as workers are configured, usually 1'),
  })
  .meta({ id: 'TenantQuota' });
export type TenantQuotaAnswer = z.infer<typeof tenantQuota>;

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
  // For these six routes the tenant in the body counts: the handlers check the permission there again.
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
    // The permission is checked in the tenant of this path parameter.
    path: '/tenants/:tenant_name',
    params: z.object({ tenant_name: resourceId }),
    permission: 'tenant_get',
    summary: 'One tenant',
    ...shared,
    query: getData,
    ...changed,
  },
  {
    id: 'getTenantQuota',
    method: 'GET',
    path: '/tenants/:tenant_name/quota',
    params: z.object({ tenant_name: resourceId }),
    permission: 'tenant_get',
    summary: 'What a tenant may have at most, and what it has',
    ...shared,
    spec: 'Baton',
    status: 200,
    response: tenantQuota,
  },
  {
    // Only for administrators of the manager: callers who may create tenants.
    id: 'setTenantQuota',
    method: 'PUT',
    path: '/tenants/:tenant_name/quota',
    params: z.object({ tenant_name: resourceId }),
    permission: 'tenant_create',
    summary: 'Set what a tenant may have at most; fields that are left out stay',
    ...shared,
    spec: 'Baton',
    body: tenantQuotaChange,
    status: 200,
    response: tenantQuota,
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
