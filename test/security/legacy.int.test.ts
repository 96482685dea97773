import type { RouteContract } from '@baton/contracts';
import { allRoutes } from '@baton/contracts/http/all';
import { startWorld, type World } from '../gateway/world';

/**
 * S5: v2.1 has no tenants. A user of another tenant has no rights in default_tenant on any route, and no user has more rights
 * there than through v3.1. Tests every route of both versions.
 */

let world: World;
const users = [
  { name: 'stranger', tenant: 't2', role: 'manager' },
  { name: 'viewer', tenant: 'default_tenant', role: 'viewer' },
];
beforeAll(async () => {
  world = await startWorld({ allRoutes: true });
  await world.call('POST', '/tenants/t2', { as: 'admin:admin' });
  for (const { name, tenant, role } of users) {
    await world.call('PUT', '/users', {
      as: 'admin:admin',
      body: { username: name, password: `${name}_pw` },
    });
    await world.call('PUT', '/tenants/users', {
      as: 'admin:admin',
      body: { tenant_name: tenant, username: name, role },
    });
  }
});
afterAll(() => world.stop());

const old = allRoutes.filter(({ versions }) => versions.includes('v2.1') && versions.includes('v3.1'));
/**
 * The gateway decides before it looks for the service. A missing service answers 503, which means that the gateway let the
 * request in.
 */
const status = async ({ method, path }: RouteContract, api: string, name: string, tenant?: string) => {
  const address = path.replace(/:\w+|\*/g, 'x');
  const { status: answered } = await world.call(method, address, { as: `${name}:${name}_pw`, api, tenant });
  return answered === 401 || answered === 403 ? 'refused' : 'let in';
};

test('there are many routes to ask', () => expect(old.length).toBeGreaterThan(30));

test.each(users)(
  '$name ($role of $tenant) may no more through v2.1 than through v3.1',
  async ({ name }) => {
    const more: string[] = [];
    for (const route of old) {
      const legacy = await status(route, '/api/v2.1', name);
      const current = await status(route, '/api/v3.1', name, 'default_tenant');
      if (legacy === 'let in' && current === 'refused') more.push(`${route.method} ${route.path}`);
    }
    expect(more).toEqual([]);
  },
  120_000,
);

test('a user of another tenant gets nothing of default_tenant', async () => {
  const inside: string[] = [];
  for (const route of old)
    if (route.tenant === 'required' && (await status(route, '/api/v2.1', 'stranger')) === 'let in')
      inside.push(`${route.method} ${route.path} ${route.permission}`);
  expect(inside).toEqual([]);
}, 120_000);
