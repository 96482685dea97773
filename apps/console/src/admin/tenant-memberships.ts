/** Changes of memberships of tenants and groups. Both sides use the same API calls: users of a tenant, and tenants of a user. */
import type { MembershipChanges } from './membership-changes';

const USER_PERMISSIONS = {
  add: 'tenant_add_user',
  change: 'tenant_update_user',
  remove: 'tenant_remove_user',
};
const GROUP_PERMISSIONS = {
  add: 'tenant_add_group',
  change: 'tenant_update_group',
  remove: 'tenant_remove_group',
};

/** Tenants of a user. */
export const tenantsOf = (username: string): MembershipChanges => ({
  kind: 'tenants',
  ...userInTenant((tenant_name) => ({ tenant_name, username })),
});

/** Users of a tenant. */
export const usersOf = (tenantName: string): MembershipChanges => ({
  kind: 'users',
  ...userInTenant((username) => ({ tenant_name: tenantName, username })),
});

/** Tenants of a group. */
export const tenantsOfGroup = (groupName: string): MembershipChanges => ({
  kind: 'tenants',
  ...groupInTenant((tenant_name) => ({ tenant_name, group_name: groupName })),
});

/** Groups of a tenant. */
export const groupsOf = (tenantName: string): MembershipChanges => ({
  kind: 'user-groups',
  ...groupInTenant((group_name) => ({ tenant_name: tenantName, group_name })),
});

/** Users of a group. */
export const membersOf = (groupName: string): MembershipChanges => ({
  kind: 'users',
  ...userInGroup((username) => ({ username, group_name: groupName })),
});

/** Groups of a user. */
export const groupsOfUser = (username: string): MembershipChanges => ({
  kind: 'user-groups',
  ...userInGroup((group_name) => ({ username, group_name })),
});

type Changes = Omit<MembershipChanges, 'kind'>;

function userInTenant(of: (name: string) => { tenant_name: string; username: string }): Changes {
  return {
    add: {
      permission: USER_PERMISSIONS.add,
      ask: (client, tenant, name, role) =>
        client.call('addTenantUser', { tenant, body: { ...of(name), role } }),
    },
    change: {
      permission: USER_PERMISSIONS.change,
      ask: (client, tenant, name, role) =>
        client.call('updateTenantUser', { tenant, body: { ...of(name), role } }),
    },
    remove: {
      permission: USER_PERMISSIONS.remove,
      ask: (client, tenant, name) => client.call('removeTenantUser', { tenant, body: of(name) }),
    },
  };
}

function groupInTenant(of: (name: string) => { tenant_name: string; group_name: string }): Changes {
  return {
    add: {
      permission: GROUP_PERMISSIONS.add,
      ask: (client, tenant, name, role) =>
        client.call('addTenantGroup', { tenant, body: { ...of(name), role } }),
    },
    change: {
      permission: GROUP_PERMISSIONS.change,
      ask: (client, tenant, name, role) =>
        client.call('updateTenantGroup', { tenant, body: { ...of(name), role } }),
    },
    remove: {
      permission: GROUP_PERMISSIONS.remove,
      ask: (client, tenant, name) => client.call('removeTenantGroup', { tenant, body: of(name) }),
    },
  };
}

function userInGroup(of: (name: string) => { username: string; group_name: string }): Changes {
  return {
    add: {
      permission: 'user_group_add_user',
      ask: (client, tenant, name) => client.call('addUserToGroup', { tenant, body: of(name) }),
    },
    remove: {
      permission: 'user_group_remove_user',
      ask: (client, tenant, name) => client.call('removeUserFromGroup', { tenant, body: of(name) }),
    },
  };
}
