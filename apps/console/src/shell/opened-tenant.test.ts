import { openedTenant } from './opened-tenant';

test.each([
  ['/ui/team/deployments', 'other', 'team'],
  ['/ui/a%20b/', null, 'a b'],
  ['/ui/', 'other', 'other'],
  ['/ui', null, 'default_tenant'],
  ['/ui/-/device', 'other', 'other'],
  ['/ui/%E0%A4%A', 'other', 'default_tenant'],
])('%s after %s is of %s', (pathname, last, tenant) => expect(openedTenant(pathname, last)).toBe(tenant));
