import { eventually } from '@baton/testkit';
import { type CallOptions, startWorld, type World } from './world';

// Like standalone: the services' apps are called within the process. Limits: one request at a time, twelve a minute.
let world: World;
const admin = 'admin:admin';
const T = 'default_tenant';
const get = (path: string, o: CallOptions = {}) => world.call('GET', path, { as: admin, tenant: T, ...o });

beforeAll(async () => {
  world = await startWorld({
    isLocal: true,
    env: { BATON_MAX_CONCURRENT_REQUESTS: '1', BATON_RATE_LIMIT: '12' },
  });
});
afterAll(() => world.stop());

test('within one process the service sees the same request', async () => {
  const { body, headers } = await get('/who', {
    headers: { 'x-baton-principal': 'forged', 'x-request-id': 'my-id' },
  });
  expect(body.principal).toMatchObject({ username: 'admin', tenant: T, isBootstrapAdmin: true });
  expect(body.headers).not.toHaveProperty('authorization');
  expect(body.headers).not.toHaveProperty('tenant');
  expect([headers.get('x-request-id'), headers.get('x-cloudify-audit-username')]).toEqual(['my-id', 'admin']);
});

test('bodies are read, HEAD has none, v1 is bare', async () => {
  expect(
    (await world.call('PUT', '/users', { as: admin, body: { username: 'bob', password: 'bob_pw' } })).status,
  ).toBe(201);
  const upload = await world.call('PUT', '/uploads/x', { as: admin, tenant: T, body: { some: 'bytes' } });
  expect(upload.body).toEqual({ bytes: 16 });
  const head = await world.call('HEAD', '/things', { as: admin, tenant: T });
  expect([head.status, head.text]).toEqual([200, '']);
  expect((await get('/things', { api: '/api/v1' })).body).toHaveLength(1);
});

test('a full house is 503 with Retry-After, and a client that leaves makes room', async () => {
  const leave = new AbortController();
  const authorization = `Basic ${Buffer.from(admin).toString('base64')}`;
  fetch(`${world.gateways[0]}/api/v3.1/hang`, {
    headers: { authorization, tenant: T },
    signal: leave.signal,
  }).catch(() => undefined);
  await eventually(() => world.seen.hanging === 1);
  const full = await get('/who');
  expect([full.status, full.body.error_code, full.headers.get('retry-after')]).toEqual([
    503,
    'service_unavailable_error',
    '1',
  ]);
  leave.abort();
  await eventually(() => world.seen.aborted === 1);
  await eventually(async () => (await get('/open')).status === 200);
});

test('above the rate limit clients get 429', async () => {
  const statuses: number[] = [];
  // More requests than two minutes allow: a new minute may begin in between.
  for (let i = 0; i < 30; i++) statuses.push((await get('/open')).status);
  expect(statuses).toContain(429);
  expect(statuses).not.toContain(503);
});
