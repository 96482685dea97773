import type { Principal } from '@baton/contracts';
import { permissionNames } from './domain/permissions';
import { startTestIdentity, type TestIdentity } from './testing-identity';

const T = 'default_tenant';
let identity: TestIdentity;
let bob: Principal;
let carol: Principal;
let stranger: Principal;
const call = (...args: Parameters<TestIdentity['call']>) => identity.call(...args);

beforeAll(async () => {
  identity = await startTestIdentity();
  await call('POST', '/tenants/t2', {});
  for (const [username, tenant_name, role] of [
    ['bob', T, 'viewer'],
    ['bob', 't2', 'manager'],
    ['carol', T, 'user'],
    ['stranger', 't2', 'user'],
  ]) {
    await call('PUT', '/users', { username, password: `${username}_pw` });
    await call('PUT', '/tenants/users', { tenant_name, username, role });
  }
  bob = await identity.principal('bob', 'bob_pw', T);
  carol = await identity.principal('carol', 'carol_pw', T);
  stranger = await identity.principal('stranger', 'stranger_pw', 't2');
});
afterAll(() => identity.stop());

test('own permissions are those of the tenant, by name, and all of them for the first administrator', async () => {
  const of = async (as: Principal) => (await call('GET', '/user/permissions', undefined, as)).body;
  const viewer = await of(bob);
  expect(viewer).toMatchObject({ username: 'bob', tenant: T, roles: ['default', 'viewer'] });
  expect(viewer.permissions).toContain('blueprint_list');
  expect(viewer.permissions).not.toContain('blueprint_upload');
  expect(viewer.permissions).toEqual([...viewer.permissions].sort());
  const manager = await of(await identity.principal('bob', 'bob_pw', 't2'));
  expect(manager.permissions).toContain('blueprint_upload');
  const nowhere = await of(await identity.principal('carol', 'carol_pw', 't2'));
  expect(nowhere).toMatchObject({ tenant: 't2', roles: ['default'] });
  expect(nowhere.permissions).not.toContain('blueprint_list');
  const admin = await of(await identity.principal('admin', 'admin', T));
  expect(admin.permissions).toEqual(permissionNames.filter((name) => !/^(widget|stage)_/.test(name)).sort());
});

test('preferences are the own ones, replaced as a whole, up to 64 KiB', async () => {
  const read = async (as: Principal) => (await call('GET', '/user/preferences', undefined, as)).body;
  const write = (body: unknown, as = bob) => call('PUT', '/user/preferences', body, as);
  expect(await read(bob)).toEqual({});
  const first = { theme: 'dark', columns: { a: [1, null, true] }, gone: null };
  expect((await write(first)).body).toEqual(first);
  expect((await write({ theme: 'light' })).body).toEqual({ theme: 'light' });
  expect([await read(bob), await read(carol)]).toEqual([{ theme: 'light' }, {}]);
  const fits = { text: 'x'.repeat(64 * 1024 - '{"text":""}'.length) };
  expect((await write(fits)).status).toBe(200);
  const larger = await write({ text: `${fits.text}x` });
  expect([larger.status, larger.body.error_code]).toEqual([413, 'payload_too_large_error']);
  for (const bad of [[], 'x', 1, null]) expect((await write(bad)).status).toBe(400);
  expect((await write({ text: '\u0000' })).status).toBe(400);
  expect(await read(bob)).toEqual(fits);
});

test('a view is kept under a name of the own ones, and shared only in its tenant', async () => {
  const put = (name: string, as: Principal, body: object) => call('PUT', `/user/views/${name}`, body, as);
  const names = async (as: Principal, query = '') =>
    (await call('GET', `/user/views${query}`, undefined, as)).body.items.map(
      (view: { name: string; created_by: string }) => `${view.created_by}:${view.name}`,
    );
  const made = await put('My%20failed%20runs', bob, { screen: 'executions', query: 'status=failed' });
  expect(made).toMatchObject({
    status: 200,
    body: {
      name: 'My failed runs',
      screen: 'executions',
      query: 'status=failed',
      is_shared: false,
      created_by: 'bob',
      tenant_name: T,
    },
  });
  await put('all', bob, { screen: 'deployments', query: '', is_shared: true });
  await put('all', carol, { screen: 'blueprints', query: '' });
  await put('foreign', stranger, { screen: 'blueprints', query: '', is_shared: true });
  expect((await names(bob)).sort()).toEqual(['bob:My failed runs', 'bob:all']);
  expect(await names(carol)).toEqual(['bob:all', 'carol:all']);
  expect(await names(stranger)).toEqual(['stranger:foreign']);
  expect(await names(await identity.principal('bob', 'bob_pw', 't2'))).toEqual(['stranger:foreign']);
  expect(await names(carol, '?created_by=bob&is_shared=true')).toEqual(['bob:all']);
  expect((await call('GET', '/user/views?_include=name&_size=1', undefined, carol)).body.items).toEqual([
    { name: 'all' },
  ]);
  // Replaces carol's own view; the other user's view stays.
  await put('all', carol, { screen: 'blueprints', query: '_search=x', is_shared: true });
  expect(await names(bob, '?name=all')).toEqual(['bob:all', 'carol:all']);

  expect((await call('DELETE', '/user/views/all', undefined, carol)).status).toBe(204);
  for (const [name, as] of [
    ['all', carol],
    ['all', stranger],
    ['My%20failed%20runs', carol],
  ] as const)
    expect((await call('DELETE', `/user/views/${name}`, undefined, as)).status).toBe(404);
  expect(await names(bob)).toHaveLength(2);
});

test('a view has a screen, a query, a readable name, and a place among 200', async () => {
  const put = (name: string, body: object) => call('PUT', `/user/views/${name}`, body, carol);
  for (const [name, body] of [
    ['x', {}],
    ['x', { screen: '', query: '' }],
    ['x', { screen: 's', query: 'q'.repeat(4097) }],
    ['x', { screen: 's', query: 'a\nb' }],
    ['x'.repeat(101), { screen: 's', query: '' }],
    ['a%0Ab', { screen: 's', query: '' }],
  ] as const)
    expect([name, (await put(name, body)).status]).toEqual([name, 400]);
  await identity.db.pool.query(
    `insert into user_views (user_id, tenant, name, screen, query)
      select $1, $2, 'n' || i, 's', '' from generate_series(1, 199) i`,
    [carol.userId, T],
  );
  const [one, other] = await Promise.all(['p', 'q'].map((name) => put(name, { screen: 's', query: '' })));
  expect([one!.status, other!.status].sort()).toEqual([200, 400]);
  expect((await put('n1', { screen: 's2', query: '' })).body.screen).toBe('s2');
});

test('views go with their tenant and their user, and keep neither', async () => {
  await call('POST', '/tenants/t3', {});
  const member = { tenant_name: 't3', username: 'bob' };
  await call('PUT', '/tenants/users', { ...member, role: 'user' });
  const there = await identity.principal('bob', 'bob_pw', 't3');
  const view = { screen: 's', query: '', is_shared: true };
  expect((await call('PUT', '/user/views/mine', view, there)).status).toBe(200);
  await call('DELETE', '/tenants/users', member);
  expect((await call('DELETE', '/tenants/t3')).status).toBe(204);
  await call('PUT', '/users', { username: 'frank', password: 'frank_pw' });
  const frank = await identity.principal('frank', 'frank_pw');
  await call('PUT', '/user/preferences', { a: 1 }, frank);
  expect((await call('DELETE', '/users/frank')).status).toBe(204);
  const { rows } = await identity.db.pool.query(
    `select (select count(*)::int from user_views where tenant = 't3') as views,
      (select count(*)::int from user_preferences where user_id = $1) as preferences`,
    [frank.userId],
  );
  expect(rows).toEqual([{ views: 0, preferences: 0 }]);
});

test('no answer about a user holds a hash, but the list that is asked for it by name', async () => {
  const hash = (await identity.db.pool.query(`select password_hash from users where username = 'bob'`))
    .rows[0];
  const paths: [string, string, unknown?][] = [
    ['GET', '/user'],
    ['GET', '/user?_get_data=true'],
    ['GET', '/users'],
    ['GET', '/users?_get_data=true'],
    ['GET', '/users?_include=username,password_hash'],
    ['GET', '/users/bob?_include=password_hash'],
    ['GET', '/users/bob?_include_hash=true'],
    ['POST', '/users/bob', { show_getting_started: true }],
    ['POST', '/users/unlock/bob', {}],
    ['PUT', '/users', { username: 'erin', password: 'erin_password' }],
    ['GET', '/user-groups?_get_data=true'],
    ['GET', '/tenants?_get_data=true'],
  ];
  for (const [method, path, body] of paths) {
    const text = JSON.stringify((await call(method, path, body)).body);
    expect([path, text.includes('$argon2')]).toEqual([path, false]);
  }
  const asked = (as?: Principal) => call('GET', '/users?_include_hash=true&username=bob', undefined, as);
  expect((await asked()).body.items[0]).toMatchObject(hash);
  expect((await asked(bob)).status).toBe(403);
  // A browser session gets no hashes, not even an administrator's session.
  const admin = await identity.principal('admin', 'admin');
  expect((await asked({ ...admin, authMethod: 'session', sessionId: 'x' })).status).toBe(403);
});
