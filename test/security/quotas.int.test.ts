import { startWorld, type World } from '../gateway/world';

/** S25: rate limits for requests, changes and uploads of one user, with readable usage. */

const T = 'default_tenant';
let world: World;
beforeAll(async () => {
  world = await startWorld({
    env: { BATON_USER_RATE_LIMIT: '60', BATON_USER_CHANGE_LIMIT: '20', BATON_USER_UPLOAD_LIMIT: '5' },
  });
  for (const username of ['bob', 'carol', 'dave']) {
    await world.call('PUT', '/users', { as: 'admin:admin', body: { username, password: `${username}_pw` } });
    await world.call('PUT', '/tenants/users', {
      as: 'admin:admin',
      body: { tenant_name: T, username, role: 'user' },
    });
  }
});
afterAll(() => world.stop());

const put = (who: string, path: string) =>
  world.call('PUT', path, { as: `${who}:${who}_pw`, tenant: T, body: {} });

test('a loop of changes is held to its rate, says what is left and when to come again; others go on', async () => {
  const first = await put('bob', '/things/x');
  expect(first.headers.get('ratelimit-policy')).toBe('"changes";q=20;w=60');
  expect(first.headers.get('ratelimit')).toMatch(/^"changes";r=19;t=60$/);
  const statuses: number[] = [];
  let last = first;
  for (let i = 0; i < 25; i++) {
    last = await put('bob', '/things/x');
    statuses.push(last.status);
  }
  expect(statuses.slice(0, 19)).toEqual(Array(19).fill(200));
  expect(last.status).toBe(429);
  expect(Number(last.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
  expect(last.body).toMatchObject({ scope: 'user', limit: 20, what: 'changes in a minute' });
  expect((await put('carol', '/things/x')).status).toBe(200);
  // Reads and searches of the same user do not count as changes.
  expect((await world.call('GET', '/things', { as: 'bob:bob_pw', tenant: T })).status).toBe(200);
});

test('uploads have a rate of their own', async () => {
  const statuses: number[] = [];
  for (let i = 0; i < 6; i++) statuses.push((await put('dave', '/uploads/x')).status);
  expect(statuses).toEqual([200, 200, 200, 200, 200, 429]);
});

test('reads are counted as well', async () => {
  const answers = await Promise.all(
    Array.from({ length: 150 }, () => world.call('GET', '/who', { as: 'carol:carol_pw', tenant: T })),
  );
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]!.body).toMatchObject({ error_code: 'too_many_requests_error' });
  expect((await world.call('GET', '/who', { as: 'admin:admin', tenant: T })).status).toBe(200);
});
