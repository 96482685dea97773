import { z } from 'zod';
import { defineRoutes } from '../route';
import { columnsOf } from './list-columns';
import { bodyFlag, envelope, instant, queryBoolean, resourceId } from './shapes';

const counted = z.number().int();

/** A user (reference/rest-api.md 2.7). `groups` and `tenants` are counts, or lists and objects with `_get_data=true`. */
export const user = z
  .object({
    username: z.string(),
    role: z.string(),
    active: z.boolean(),
    created_at: instant,
    first_login_at: instant.nullable(),
    last_login_at: instant.nullable(),
    is_locked: z.boolean(),
    show_getting_started: z.boolean(),
    groups: z.union([counted, z.array(z.string())]),
    tenants: z.union([
      counted,
      z.record(z.string(), z.object({ 'tenant-role': z.string().nullable(), roles: z.array(z.string()) })),
    ]),
    tenant_roles: z
      .object({
        direct: z.record(z.string(), z.string()),
        groups: z.record(z.string(), z.record(z.string(), z.array(z.string()))),
      })
      .nullable(),
    group_system_roles: z.record(z.string(), z.array(z.string())),
    password_hash: z.string().nullable(),
  })
  .meta({ id: 'User' });
export type UserAnswer = z.infer<typeof user>;

const userFields = Object.keys(user.shape) as (keyof UserAnswer)[];

/** PUT /users; the last four keys are for restores and need their own permissions. */
const newUser = z
  .object({
    username: resourceId,
    password: z.string().max(512),
    role: z.string().optional(),
    is_prehashed: bodyFlag.optional(),
    created_at: z.string().optional(),
    first_login_at: z.string().nullable().optional(),
    last_login_at: z.string().nullable().optional(),
  })
  .meta({ id: 'NewUser' });

/** POST /users/{username}: exactly one of the keys. */
const userChange = z
  .object({
    password: z.string().optional(),
    role: z.string().optional(),
    show_getting_started: bodyFlag.optional(),
  })
  .meta({ id: 'UserChange' });

const getData = z.object({ _get_data: queryBoolean.optional() });
const readOne = { query: getData, includeFields: userFields, status: 200, response: user } as const;

export const usersRoutes = defineRoutes([
  {
    id: 'getCurrentUser',
    method: 'GET',
    path: '/user',
    owner: 'identity',
    permission: 'user_get_self',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'The user who asks',
    spec: 'reference 2.7',
    ...readOne,
  },
  {
    id: 'listUsers',
    method: 'GET',
    path: '/users',
    owner: 'identity',
    permission: 'user_list',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Users of the manager',
    spec: 'reference 2.7',
    query: getData.extend({ _include_hash: queryBoolean.optional() }),
    list: {
      fields: userFields,
      filters: columnsOf(user, ['password_hash']),
      sorts: columnsOf(user, ['password_hash']),
      search: 'username',
      defaultSort: [{ field: 'created_at', descending: false }],
      allowsAllTenants: false,
      allowsGetAll: true,
    },
    status: 200,
    response: envelope(user),
  },
  {
    id: 'createUser',
    method: 'PUT',
    path: '/users',
    owner: 'identity',
    permission: 'user_create',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Create a user',
    spec: 'reference 2.7',
    body: newUser,
    includeFields: userFields,
    status: 201,
    response: user,
  },
  {
    id: 'getUser',
    method: 'GET',
    path: '/users/:username',
    owner: 'identity',
    permission: 'user_get',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'One user',
    spec: 'reference 2.7',
    ...readOne,
  },
  {
    id: 'updateUser',
    method: 'POST',
    path: '/users/:username',
    owner: 'identity',
    // To change one's own password needs no permission; for other users the handler checks user_update.
    permission: 'login',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: "Change a user's password, role or getting-started flag",
    spec: 'reference 2.7',
    body: userChange,
    ...readOne,
  },
  {
    id: 'deleteUser',
    method: 'DELETE',
    path: '/users/:username',
    owner: 'identity',
    permission: 'user_delete',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Delete a user',
    spec: 'reference 2.7',
    status: 204,
  },
  {
    id: 'activateUser',
    method: 'POST',
    path: '/users/active/:username',
    owner: 'identity',
    permission: 'user_set_activated',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Activate or deactivate a user',
    spec: 'reference 2.7',
    body: z.object({ action: z.string() }),
    ...readOne,
  },
  {
    id: 'unlockUser',
    method: 'POST',
    path: '/users/unlock/:username',
    params: z.object({ username: resourceId }),
    owner: 'identity',
    permission: 'user_unlock',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Unlock a user after failed logins',
    spec: 'reference 2.7',
    body: z.looseObject({}),
    isBodyOptional: true,
    ...readOne,
  },
  {
    id: 'getIdentityProvider',
    method: 'GET',
    path: '/idp',
    owner: 'identity',
    permission: 'identity_provider_get',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Where users come from: local',
    spec: 'reference 2.10',
    status: 200,
    response: z.literal('local'),
  },
  {
    id: 'getLdap',
    method: 'GET',
    path: '/ldap',
    owner: 'identity',
    permission: 'ldap_status_get',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Whether users are taken from a directory: disabled',
    spec: 'reference 2.10',
    status: 200,
    response: z.literal('disabled'),
  },
  {
    id: 'setLdap',
    method: 'POST',
    path: '/ldap',
    owner: 'identity',
    permission: 'ldap_set',
    tenant: 'optional',
    versions: ['v3.1'],
    summary: 'Not offered: answers 405',
    spec: 'reference 2.10',
    body: z.looseObject({}),
    isBodyOptional: true,
    status: 200,
    response: z.looseObject({}),
  },
]);
