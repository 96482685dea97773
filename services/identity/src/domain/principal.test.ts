import { defaultGrants, isConsolePermission, permissionNames } from './permissions';
import { buildAuthorization, buildPrincipal, type UserRights } from './principal';
import { defaultRoles, lowestRole, requireRole } from './roles';

const roles = defaultRoles.map((role, i) => ({ ...role, id: i + 1 }));
const authorization = buildAuthorization(1, roles, defaultGrants);
const bob: UserRights = {
  id: 7,
  username: 'bob',
  role: 'default',
  groupRoles: [],
  tenantRoles: [
    { tenant: 't1', role: 'viewer' },
    { tenant: 't2', role: 'manager' },
    { tenant: 't2', role: 'viewer' },
  ],
};
const of = (user: UserRights, tenant: string, allTenantsPermission = '') =>
  buildPrincipal(user, authorization, { tenant, authMethod: 'token', allTenantsPermission });

test('the default table has 248 names, none twice, and viewer holds 99 of them', () => {
  expect(permissionNames).toHaveLength(248);
  expect(new Set(permissionNames).size).toBe(248);
  expect(defaultGrants.filter((grant) => grant.role === 'viewer')).toHaveLength(99);
  // sys_admin holds every permission.
  expect(defaultGrants.filter((grant) => grant.role === 'sys_admin')).toHaveLength(248);
});

test('the default table is in the order of the original: by permission, and the holders of each', () => {
  expect(defaultGrants.slice(0, 3)).toEqual([
    { role: 'sys_admin', permission: 'all_tenants' },
    { role: 'sys_admin', permission: 'administrators' },
    { role: 'manager', permission: 'administrators' },
  ]);
  const holders = (name: string) =>
    defaultGrants.filter((grant) => grant.permission === name).map((grant) => grant.role);
  expect(holders('agent_list')).toEqual(['sys_admin', 'manager', 'operations', 'user', 'viewer']);
  expect(holders('site_create')).toEqual(['sys_admin', 'user', 'manager']);
  expect(holders('list_token')).toEqual(['sys_admin', 'manager', 'user', 'default', 'viewer']);
  expect(permissionNames.at(-1)).toBe('secrets_provider_delete');
});

test('roles of one tenant give no right in another', () => {
  expect(of(bob, 't2').permissions).toContain('site_create');
  expect(of(bob, 't2').roles).toEqual(['default', 'manager', 'viewer']);
  expect(of(bob, 't1').permissions).not.toContain('site_create');
  expect(of(bob, '').permissions).not.toContain('site_list');
  expect(of(bob, '').permissions).toContain('create_token');
});

test('a principal names the tenant only of members', () => {
  expect(of(bob, 't1').tenants).toEqual([{ name: 't1', roles: ['default', 'viewer'] }]);
  expect(of(bob, 'elsewhere').tenants).toEqual([]);
});

test('_all_tenants reaches the tenants where the permission is held', () => {
  expect(of(bob, 't1', 'site_list').tenants.map((t) => t.name)).toEqual(['t1', 't2']);
  expect(of(bob, 't1', 'site_create').tenants.map((t) => t.name)).toEqual(['t2']);
  expect(of(bob, 't1', 'site_create').permissions).not.toContain('site_create');
});

test('a system role by a group counts everywhere and shows as the role', () => {
  const root = { ...bob, groupRoles: ['sys_admin'] };
  expect(of(root, 'anywhere').permissions).toContain('user_create');
  expect(of(root, 'anywhere').role).toBe('sys_admin');
  expect(of(root, 't1', 'site_list').tenants.map((t) => t.name)).toEqual(['t1']);
});

test('the bootstrap admin bypasses the table, and console names do not travel', () => {
  const admin = of({ ...bob, id: 0, role: 'sys_admin' }, 't1');
  expect(admin).toMatchObject({ isBootstrapAdmin: true, permissions: [] });
  expect(of(bob, 't2').permissions.some(isConsolePermission)).toBe(false);
});

test('roles are checked by type and near misses are named', () => {
  expect(requireRole(roles, 'viewer', 'tenant_role').name).toBe('viewer');
  expect(() => requireRole(roles, 'viewer', 'system_role')).toThrow(/sys_admin, default/);
  expect(() => requireRole(roles, 'viwer', 'tenant_role')).toThrow(
    expect.objectContaining({ details: expect.objectContaining({ nearest: 'viewer' }) }),
  );
  expect(lowestRole(roles, [])).toBe('default');
});

test('a grant of a role that is gone gives nothing', () => {
  const odd = buildAuthorization(1, roles.slice(0, 1), [{ role: 'gone', permission: 'site_list' }]);
  expect(odd.permissions.has('gone')).toBe(false);
  const user = { ...bob, tenantRoles: [{ tenant: 't1', role: 'gone' }] };
  expect(
    buildPrincipal(user, odd, {
      tenant: 't1',
      authMethod: 'token',
      executionId: 'e1',
      allTenantsPermission: '',
    }),
  ).toMatchObject({
    roles: ['default', 'gone'],
    permissions: [],
    executionId: 'e1',
  });
  expect(
    buildPrincipal(user, odd, { tenant: 't1', authMethod: 'token', allTenantsPermission: 'site_list' })
      .tenants,
  ).toEqual([]);
});
