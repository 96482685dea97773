import { z } from 'zod';
import { defineRoutes } from '../route';
import { envelope, queryBoolean, resourceId } from './shapes';

const counted = z.number().int();

/** A user group (reference/rest-api.md 2.9). `tenants` and `users` are counts, or objects and lists with `_get_data=true`. */
export const userGroup = z
  .object({
    name: z.string(),
    ldap_dn: z.string().nullable(),
    role: z.string(),
    tenants: z.union([counted, z.record(z.string(), z.string())]),
    users: z.union([counted, z.array(z.string())]),
  })
  .meta({ id: 'UserGroup' });
export type UserGroupAnswer = z.infer<typeof userGroup>;
const userGroupFields = Object.keys(userGroup.shape) as (keyof UserGroupAnswer)[];

const getData = z.object({ _get_data: queryBoolean.optional() });
const member = z.object({ username: z.string(), group_name: z.string() });
const shared = { owner: 'identity', tenant: 'optional', versions: ['v3.1'], spec: 'reference 2.9' } as const;
const one = { includeFields: userGroupFields, status: 200, response: userGroup } as const;

export const userGroupsRoutes = defineRoutes([
  {
    id: 'listUserGroups',
    method: 'GET',
    path: '/user-groups',
    permission: 'user_group_list',
    summary: 'User groups',
    ...shared,
    query: getData,
    list: {
      fields: userGroupFields,
      filters: ['name', 'ldap_dn', 'role'],
      sorts: ['name', 'ldap_dn', 'role'],
      search: 'name',
      defaultSort: [],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(userGroup),
  },
  {
    id: 'createUserGroup',
    method: 'POST',
    path: '/user-groups',
    permission: 'user_group_create',
    summary: 'Create a user group',
    ...shared,
    body: z.object({
      group_name: z.string(),
      ldap_group_dn: z.string().nullable().optional(),
      role: z.string().optional(),
    }),
    includeFields: userGroupFields,
    status: 201,
    response: userGroup,
  },
  {
    id: 'addUserToGroup',
    method: 'PUT',
    path: '/user-groups/users',
    permission: 'user_group_add_user',
    summary: 'Add a user to a group',
    ...shared,
    body: z.object({ username: resourceId, group_name: resourceId }),
    ...one,
  },
  {
    id: 'removeUserFromGroup',
    method: 'DELETE',
    path: '/user-groups/users',
    permission: 'user_group_remove_user',
    summary: 'Remove a user from a group',
    ...shared,
    body: member,
    status: 204,
  },
  {
    id: 'getUserGroup',
    method: 'GET',
    path: '/user-groups/:group_name',
    params: z.object({ group_name: resourceId }),
    permission: 'user_group_get',
    summary: 'One user group',
    ...shared,
    query: getData,
    ...one,
  },
  {
    id: 'updateUserGroup',
    method: 'POST',
    path: '/user-groups/:group_name',
    permission: 'user_group_update',
    summary: "Change a group's system role",
    ...shared,
    body: z.object({ role: z.string() }),
    ...one,
  },
  {
    id: 'deleteUserGroup',
    method: 'DELETE',
    path: '/user-groups/:group_name',
    params: z.object({ group_name: resourceId }),
    permission: 'user_group_delete',
    summary: 'Delete a user group',
    ...shared,
    status: 204,
  },
]);
