import type { Principal } from '@baton/contracts';
import { Secret } from '@baton/kernel';

/** Key that signs the principals of tests. */
export const key = new Secret('a key of the test that is long enough');

/** The administrator, as the gateway describes her. */
export const ann: Principal = {
  userId: 1,
  username: 'ann',
  tenant: 'default_tenant',
  role: 'sys_admin',
  roles: [],
  permissions: [],
  tenants: [],
  authMethod: 'token',
  executionId: '',
  isBootstrapAdmin: true,
};
