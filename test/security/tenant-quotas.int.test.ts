import { eventually, testUrls } from '@baton/testkit';
import { startWorld, type World } from '../gateway/world';

/**
 * The quota of a tenant for its users and an administrator: the permission to set it, and its effect on requests over two
 * gateways.
 */

const T = 'default_tenant';
const ADMIN = { as: 'admin:admin' };
let world: World;
beforeAll(async () => {
  world = await startWorld({ gateways: 2, env: { REDIS_URL: testUrls.redis() } });
  await world.call('POST', '/tenants/other', { ...ADMIN, body: {} });
  const member = async (username: string, tenant: string, role: string) => {
    await world.call('PUT', '/users', { ...ADMIN, body: { username, password: `${username}_pw` } });
    await world.call('PUT', '/tenants/users', { ...ADMIN, body: { tenant_name: tenant, username, role } });
  };
  await member('bob', T, 'user');
  await member('manny', T, 'manager');
  await member('olga', 'other', 'user');
});
afterAll(() => world.stop());

const set = (body: object, as = 'admin:admin') =>
  world.call('PUT', `/tenants/${T}/quota`, { as, tenant: T, body });
const ask = (who: string, tenant = T, at = 0) =>
  world.call('GET', '/who', { as: `${who}:${who}_pw`, tenant, at });

test('only administrators of the manager set it; members read it, strangers do not', async () => {
  const body = { max_deployments: 1_000 };
  expect((await set(body, 'bob:bob_pw')).status).toBe(403);
  expect((await set(body, 'manny:manny_pw')).status).toBe(403);
  expect((await set(body)).status).toBe(200);
  const read = (who: string) =>
    world.call('GET', `/tenants/${T}/quota`, { as: `${who}:${who}_pw`, tenant: T });
  expect((await read('bob')).body.max_deployments).toMatchObject({ limit: 1_000, own: 1_000 });
  expect((await read('olga')).status).toBe(403);
  expect((await world.call('GET', `/tenants/${T}/quota`, { ...ADMIN, api: '/api/v2.1' })).status).toBe(404);
});

test('requests of a tenant are counted over all gateways together, and of no other tenant', async () => {
  await set({ max_requests_per_minute: 20 });
  const policy = async (at: number) => (await ask('bob', T, at)).headers.get('ratelimit-policy') ?? '';
  for (const at of [0, 1])
    await eventually(async () => expect(await policy(at)).toContain('"tenant-requests";q=20;w=60'));
  // At the turn of a minute the count restarts: then another burst reaches the limit.
  await eventually(async () => {
    const burst = await Promise.all(
      Array.from({ length: 60 }, (_, i) => ask(i % 3 ? 'bob' : 'manny', T, i % 2)),
    );
    const passed = burst.filter(({ status }) => status === 200).length;
    const [refused] = burst.filter(({ status }) => status === 429);
    expect(passed).toBeLessThanOrEqual(40);
    expect(refused!.body).toMatchObject({
      error_code: 'too_many_requests_error',
      ...{ quota: 'max_requests_per_minute', scope: 'tenant', tenant: T, limit: 20 },
    });
    expect(Number(refused!.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  });
  expect((await ask('olga', 'other')).status).toBe(200);
  // Raising the limit lets requests in again. The page shows the usage if identity shares the cache.
  const answer = await world.call('GET', `/tenants/${T}/quota`, { ...ADMIN, tenant: T });
  expect(answer.body.max_requests_per_minute.limit).toBe(20);
  expect(
    answer.body.max_requests_per_minute.usage === null || answer.body.max_requests_per_minute.usage > 0,
  ).toBe(true);
  await set({ max_requests_per_minute: -1 });
  await eventually(async () => expect((await ask('bob')).status).toBe(200));
});
