import { z } from 'zod';
import { defineRoutes } from '../route';
import { resourceId } from './shapes';

/** Where a role comes from. */
const source = z.object({
  kind: z
    .enum(['user', 'group', 'provider'])
    .describe('Given to the user by hand, to a user group, or by a mapping'),
  name: z.string().nullable().describe('User group or identity provider; null for kind user'),
  groups: z.array(z.string()).describe('Groups at the provider whose rules give the role; else empty'),
});
const held = z.object({ role: z.string(), from: z.array(source) });

const access = z
  .object({
    username: z.string(),
    kind: z.enum(['local', 'provider', 'service_account']),
    provider: z.string().nullable(),
    subject: z.string().nullable().describe('The user at the provider'),
    provider_groups: z.array(z.string()).describe('Groups as the provider told them last'),
    active: z.boolean(),
    system_roles: z.array(held),
    tenants: z
      .array(z.object({ name: z.string(), roles: z.array(held) }))
      .describe('Roles given in the tenant; the system roles count there as well'),
    sees_all_tenants: z.boolean(),
  })
  .meta({ id: 'UserAccess' });
export type UserAccessAnswer = z.infer<typeof access>;

export const userAccessRoutes = defineRoutes([
  {
    id: 'getUserAccess',
    method: 'GET',
    path: '/users/:username/access',
    params: z.object({ username: resourceId }),
    owner: 'identity',
    // One's own access needs no permission; for other users the handler checks user_get.
    permission: 'login',
    tenant: 'none',
    versions: ['v3.1'],
    summary: 'The roles of a user in each tenant, and where each of them comes from',
    spec: 'Baton',
    status: 200,
    response: access,
  },
]);
