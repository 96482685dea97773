/** Users, groups and tenants, their memberships and roles. */
import type { Client, Schemas } from '@baton/client';
import { queryOptions } from '@tanstack/react-query';
import { listOf } from './lists';
import { pageOf } from './pages';

type User = Schemas['User'];
type UserGroup = Schemas['UserGroup'];
type Tenant = Schemas['Tenant'];
export type TenantQuota = Schemas['TenantQuota'];

const USER_FIELDS = [
  'username',
  'role',
  'active',
  'is_locked',
  'last_login_at',
  'groups',
  'tenants',
] as const;
const USER_DETAIL_FIELDS = [
  ...USER_FIELDS,
  'created_at',
  'first_login_at',
  'tenant_roles',
  'group_system_roles',
] as const;
const GROUP_FIELDS = ['name', 'ldap_dn', 'role', 'tenants', 'users'] as const;
const TENANT_FIELDS = ['name', 'groups', 'users'] as const;
const TENANT_DETAIL_FIELDS = [...TENANT_FIELDS, 'user_roles'] as const;

export type UserRow = Pick<User, (typeof USER_FIELDS)[number]>;
export type UserDetail = Pick<User, (typeof USER_DETAIL_FIELDS)[number]>;
export type GroupRow = Pick<UserGroup, (typeof GROUP_FIELDS)[number]>;
export type TenantRow = Pick<Tenant, (typeof TENANT_FIELDS)[number]>;
export type TenantDetail = Pick<Tenant, (typeof TENANT_DETAIL_FIELDS)[number]>;

/** Query kinds that are reloaded together: a change of one shows in the others. */
export const PEOPLE = ['users', 'user-groups', 'tenants'] as const;
export type PeopleKind = (typeof PEOPLE)[number];

export const userList = listOf<UserRow>('users', 'listUsers', USER_FIELDS);
export const groupList = listOf<GroupRow>('user-groups', 'listUserGroups', GROUP_FIELDS);
export const tenantList = listOf<TenantRow>('tenants', 'listTenants', TENANT_FIELDS);

export const userQuery = (client: Client, tenant: string, username: string) =>
  queryOptions({
    queryKey: ['users', tenant, 'one', username],
    queryFn: ({ signal }): Promise<UserDetail> =>
      client.call('getUser', {
        tenant,
        signal,
        params: { username },
        query: { _get_data: true, _include: USER_DETAIL_FIELDS.join(',') },
      }),
  });

/** The roles of a user, each with where it comes from. */
export const accessQuery = (client: Client, tenant: string, username: string) =>
  queryOptions({
    queryKey: ['users', tenant, 'access', username],
    queryFn: ({ signal }) => client.call('getUserAccess', { tenant, signal, params: { username } }),
  });

export const groupQuery = (client: Client, tenant: string, name: string) =>
  queryOptions({
    queryKey: ['user-groups', tenant, 'one', name],
    queryFn: ({ signal }): Promise<GroupRow> =>
      client.call('getUserGroup', {
        tenant,
        signal,
        params: { group_name: name },
        query: { _get_data: true, _include: GROUP_FIELDS.join(',') },
      }),
  });

export const tenantQuery = (client: Client, tenant: string, name: string) =>
  queryOptions({
    queryKey: ['tenants', tenant, 'one', name],
    queryFn: ({ signal }): Promise<TenantDetail> =>
      client.call('getTenant', {
        tenant,
        signal,
        params: { tenant_name: name },
        query: { _get_data: true, _include: TENANT_DETAIL_FIELDS.join(',') },
      }),
  });

export const quotaQuery = (client: Client, tenant: string, name: string) =>
  queryOptions({
    queryKey: ['tenants', tenant, 'quota', name],
    queryFn: ({ signal }): Promise<TenantQuota> =>
      client.call('getTenantQuota', { tenant, signal, params: { tenant_name: name } }),
  });

/** Maximum of suggested names; typing more letters narrows them. */
const MOST_NAMES = 50;
const NAMES = {
  users: ['listUsers', 'username'],
  'user-groups': ['listUserGroups', 'name'],
  tenants: ['listTenants', 'name'],
} as const;

/** Names that contain `text`. */
export const namesQuery = (client: Client, tenant: string, kind: PeopleKind, text: string) =>
  queryOptions({
    queryKey: [kind, tenant, 'names', text],
    queryFn: async ({ signal }): Promise<string[]> => {
      const [operation, field] = NAMES[kind];
      const { items } = pageOf<Record<string, string>>(
        await client.call(operation, {
          tenant,
          signal,
          query: { _search: text || undefined, _include: field, _sort: field, _size: MOST_NAMES },
        }),
      );
      return items.map((item) => item[field]!);
    },
  });

/** Roles of the manager, or of tenants. */
export const rolesQuery = (client: Client, tenant: string) =>
  queryOptions({
    queryKey: ['roles', tenant],
    queryFn: async ({ signal }) =>
      (
        await client.call('listRoles', {
          tenant,
          signal,
          query: { _include: 'name,type,description', _size: 100 },
        })
      ).items,
    staleTime: 300_000,
  });
