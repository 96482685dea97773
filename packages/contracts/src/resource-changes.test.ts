import type { Principal } from './principal';
import { isShownTo, mayListKind } from './resource-changes';

const bob = {
  username: 'bob',
  tenant: 't',
  permissions: ['deployment_list'],
  isBootstrapAdmin: false,
} as unknown as Principal;

test('shown: global ones to all, of the own tenant shared and own ones, all to its administrators', () => {
  const of = (tenant: string, visibility: string, createdBy = 'ann') => ({ tenant, visibility, createdBy });
  expect(isShownTo(bob, of('other', 'global'))).toBe(true);
  expect(isShownTo(bob, of('other', 'tenant'))).toBe(false);
  expect(isShownTo(bob, of('other', 'private', 'bob'))).toBe(false);
  expect(isShownTo(bob, of('t', 'tenant'))).toBe(true);
  expect(isShownTo(bob, of('t', 'private'))).toBe(false);
  expect(isShownTo(bob, of('t', 'private', 'bob'))).toBe(true);
  expect(isShownTo({ ...bob, permissions: ['administrators'] }, of('t', 'private'))).toBe(true);
});

test('a kind is for those who may list it', () => {
  expect(mayListKind(bob, 'deployments')).toBe(true);
  expect(mayListKind(bob, 'plugins')).toBe(false);
});
