import type { TenantDetail, UserDetail } from '../api/people';
import { plainMembers, rolesByName, sizeOf, tenantsOfUser, usersOfTenant } from './memberships';

test('a user has a role of his own, and those of his groups', () => {
  const user = {
    tenants: {
      b: { 'tenant-role': null, roles: ['viewer'] },
      a: { 'tenant-role': 'manager', roles: ['manager'] },
    },
    tenant_roles: { direct: { a: 'manager' }, groups: { b: { viewer: ['readers', 'others'] } } },
  } as unknown as UserDetail;
  expect(tenantsOfUser(user)).toEqual([
    { name: 'a', role: 'manager', via: [] },
    { name: 'b', role: null, via: ['readers (viewer)', 'others (viewer)'] },
  ]);
});

test('a tenant says who came by a group', () => {
  const tenant = {
    users: { vera: {}, adam: {} },
    user_roles: {
      direct: { vera: 'user' },
      groups: { readers: { role: 'viewer', users: ['adam', 'vera'] } },
    },
  } as unknown as TenantDetail;
  expect(usersOfTenant(tenant)).toEqual([
    { name: 'adam', role: null, via: ['readers (viewer)'] },
    { name: 'vera', role: 'user', via: ['readers (viewer)'] },
  ]);
});

test('counts are no members', () => {
  expect(tenantsOfUser({ tenants: 3, tenant_roles: null } as UserDetail)).toEqual([]);
  expect(usersOfTenant({ users: 3, user_roles: null } as TenantDetail)).toEqual([]);
  expect([rolesByName(2), plainMembers(2)]).toEqual([[], []]);
});

test('roles and names are sorted', () => {
  expect(rolesByName({ b: 'user', a: 'viewer' }).map(({ name }) => name)).toEqual(['a', 'b']);
  expect(plainMembers(['b', 'a'])).toEqual([
    { name: 'a', role: null, via: [] },
    { name: 'b', role: null, via: [] },
  ]);
});

test.each([
  [4, 4],
  [['a', 'b'], 2],
  [{ a: 'user' }, 1],
])('%j are %i', (members, size) => expect(sizeOf(members)).toBe(size));
