import type { Principal } from '@baton/contracts';
import { Secret } from '@baton/kernel';
import { createPasswords } from './adapters/passwords';
import { bootstrapManager } from './commands/bootstrap';
import { startTestIdentity, type TestIdentity } from './testing-identity';

let identity: TestIdentity;
const { call, principal } = {
  call: (...args: Parameters<TestIdentity['call']>) => identity.call(...args),
  principal: (...args: Parameters<TestIdentity['principal']>) => identity.principal(...args),
};
const code = (answer: { body: { error_code?: string } | null }): string => answer.body?.error_code ?? '';

beforeAll(async () => {
  identity = await startTestIdentity();
  await call('POST', '/tenants/t2', {});
  for (const name of ['bob', 'carol', 'dave', 'eve'])
    await call('PUT', '/users', { username: name, password: `${name}_pw` });
  await call('PUT', '/tenants/users', { tenant_name: 'default_tenant', username: 'bob', role: 'viewer' });
  await call('PUT', '/tenants/users', { tenant_name: 't2', username: 'carol', role: 'manager' });
});
afterAll(() => identity.stop());

async function messagesAbout(username: string): Promise<number> {
  const { rows } = await identity.db.pool.query(
    `select count(*) as n from outbox where envelope->>'key' = $1`,
    [username],
  );
  return rows[0].n;
}

test('bootstrap is done once however many replicas start, and keeps what an administrator changed', async () => {
  await call('DELETE', '/permissions/viewer/site_list');
  const deps = { db: identity.db, passwords: createPasswords() };
  const again = await Promise.all(
    [1, 2, 3].map(() => bootstrapManager(deps, { adminPassword: new Secret('other') })),
  );
  expect(again).toEqual([{ created: false }, { created: false }, { created: false }]);
  expect((await principal('bob', 'bob_pw', 'default_tenant')).permissions).not.toContain('site_list');
  await call('PUT', '/permissions/viewer/site_list');
  expect((await principal('bob', 'bob_pw', 'default_tenant')).permissions).toContain('site_list');
  await expect(principal('admin', 'other')).rejects.toMatchObject({ code: 'unauthorized_error' });
});

test('the whole table of roles and permissions follows what is granted', async () => {
  const holders = async (name: string) =>
    (await identity.rpc.getAuthorization({})).permissions.find((one) => one.permission === name)?.roles;
  expect(await holders('maintenance_mode_set')).toEqual(['sys_admin']);
  await call('PUT', '/permissions/viewer/maintenance_mode_set');
  expect((await holders('maintenance_mode_set'))!.sort()).toEqual(['sys_admin', 'viewer']);
  await call('DELETE', '/permissions/viewer/maintenance_mode_set');
  const { roles } = await identity.rpc.getAuthorization({});
  expect(roles[0]).toMatchObject({ id: 1, name: 'sys_admin', type: 'system_role' });
});

test('a first start without a password generates one and makes exactly one administrator', async () => {
  const fresh = await startTestIdentity();
  try {
    await fresh.db.pool.query('delete from users');
    const deps = { db: fresh.db, passwords: createPasswords() };
    const all = await Promise.all([1, 2, 3].map(() => bootstrapManager(deps, {})));
    const created = all.filter((one) => one.created);
    expect(created).toHaveLength(1);
    const password = created[0]!.generatedPassword!;
    expect(String(password)).toBe('[redacted]');
    const admin = await fresh.principal('admin', password.expose());
    expect(admin).toMatchObject({ userId: 0, isBootstrapAdmin: true, role: 'sys_admin' });
  } finally {
    await fresh.stop();
  }
});

test('names match in any letter case; wrong, unknown and inactive are refused alike', async () => {
  expect((await principal('BOB', 'bob_pw')).username).toBe('bob');
  const reasons = await Promise.all(
    [principal('bob', 'wrong'), principal('nobody', 'x'), principal('1admin', 'x')].map((p) =>
      p.catch((e) => [e.code, e.message]),
    ),
  );
  expect(new Set(reasons.map(String)).size).toBe(1);
  expect((await call('POST', '/users/active/eve', { action: 'deactivate' })).body.active).toBe(false);
  await expect(principal('eve', 'eve_pw')).rejects.toMatchObject({ code: 'unauthorized_error' });
  expect((await call('POST', '/users/active/eve', { action: 'deactivate' })).status).toBe(304);
  expect((await call('POST', '/users/active/eve', { action: 'activate' })).body.active).toBe(true);
});

test('an unknown tenant is forbidden, a foreign one gives the system role alone', async () => {
  await expect(principal('bob', 'bob_pw', 'nosuch')).rejects.toMatchObject({ code: 'forbidden_error' });
  expect(await principal('bob', 'bob_pw', 't2')).toMatchObject({ roles: ['default'], tenants: [] });
  const legacy = await identity.rpc.authenticate({ username: 'bob', password: 'bob_pw', isLegacy: true });
  expect(legacy.principal).toMatchObject({ tenant: 'default_tenant', roles: ['default', 'viewer'] });
});

test('a changed password counts at once, although the old one was remembered, and is announced', async () => {
  await principal('dave', 'dave_pw');
  const before = await messagesAbout('dave');
  expect((await call('POST', '/users/dave', { password: 'new_pw' })).status).toBe(200);
  await expect(principal('dave', 'dave_pw')).rejects.toMatchObject({ code: 'unauthorized_error' });
  await principal('dave', 'new_pw');
  expect(await messagesAbout('dave')).toBe(before + 1);
});

test('accounts lock after the configured failures and open again by unlock', async () => {
  const strict = await startTestIdentity({ BATON_ACCOUNT_LOCK_PERIOD: '10' });
  try {
    await strict.call('PUT', '/users', { username: 'bob', password: 'bob_pw' });
    for (let i = 0; i < 5; i++) await strict.principal('bob', 'bad').catch(() => undefined);
    await expect(strict.principal('bob', 'bob_pw')).rejects.toMatchObject({ code: 'unauthorized_error' });
    expect((await strict.call('GET', '/users/bob')).body.is_locked).toBe(true);
    expect((await strict.call('POST', '/users/unlock/bob', {})).body.is_locked).toBe(false);
    await strict.principal('bob', 'bob_pw');
  } finally {
    await strict.stop();
  }
});

test('user rules: duplicates in any case, passwords, roles, exactly one change', async () => {
  expect(await call('PUT', '/users', { username: 'BoB', password: 'password' })).toMatchObject({
    status: 409,
  });
  for (const body of [
    { username: 'x', password: '1234' },
    { username: '1x', password: 'password' },
    { username: 'x', password: 'password', role: 'viewer' },
    { username: 'x', password: 'not a hash', is_prehashed: true },
  ]) {
    expect(await call('PUT', '/users', body)).toMatchObject({
      status: 400,
      body: { error_code: 'bad_parameters_error' },
    });
  }
  expect(code(await call('POST', '/users/bob', {}))).toBe('bad_parameters_error');
  expect(code(await call('POST', '/users/bob', { password: 'password', role: 'default' }))).toBe(
    'bad_parameters_error',
  );
  expect(code(await call('GET', '/users/nosuch'))).toBe('not_found_error');
  expect((await call('GET', '/users?_search=AR&_include=username')).body).toMatchObject({
    items: [{ username: 'carol' }],
    metadata: { pagination: { total: 1, offset: 0, size: 1000 }, filtered: null },
  });
  expect(
    (await call('GET', '/users?username=CAROL&username=bob&_sort=-username')).body.items.map(
      (u: { username: string }) => u.username,
    ),
  ).toEqual(['carol', 'bob']);
  expect(code(await call('GET', '/users?nosuch=1'))).toBe('bad_parameters_error');
});

test('the last active administrator can neither go, nor be demoted, nor deactivated; one of two can', async () => {
  for (const [method, path, body] of [
    ['DELETE', '/users/admin', undefined],
    ['POST', '/users/admin', { role: 'default' }],
    ['POST', '/users/active/admin', { action: 'deactivate' }],
  ] as const) {
    expect(code(await call(method, path, body))).toBe('illegal_action_error');
  }
  await call('PUT', '/users', { username: 'root2', password: 'root2_pw', role: 'sys_admin' });
  const admin = await principal('admin', 'admin');
  // Both requests run at once, in two transactions: exactly one may succeed.
  const answers = await Promise.all([
    call('POST', '/users/active/admin', { action: 'deactivate' }, admin),
    call('POST', '/users/active/root2', { action: 'deactivate' }, admin),
  ]);
  expect(answers.map((a) => a.status).sort()).toEqual([200, 400]);
  await call('POST', '/users/active/admin', { action: 'activate' }, admin);
  await call('POST', '/users/active/root2', { action: 'activate' }, admin);
  // Only this user may restore snapshots, whatever other administrators exist.
  expect(code(await call('DELETE', '/users/admin', undefined, admin))).toBe('illegal_action_error');
  expect((await call('DELETE', '/users/root2', undefined, admin)).status).toBe(204);
});

test('memberships count once, direct and by group, and show in both directions', async () => {
  await call('POST', '/user-groups', { group_name: 'ops' });
  expect((await call('POST', '/user-groups', { group_name: 'OPS' })).status).toBe(409);
  await call('PUT', '/user-groups/users', { group_name: 'ops', username: 'bob' });
  await call('PUT', '/tenants/user-groups', {
    tenant_name: 'default_tenant',
    group_name: 'ops',
    role: 'operations',
  });
  await call('PUT', '/tenants/user-groups', { tenant_name: 't2', group_name: 'ops', role: 'viewer' });
  expect((await principal('bob', 'bob_pw', 'default_tenant')).roles.sort()).toEqual([
    'default',
    'operations',
    'viewer',
  ]);
  expect((await call('GET', '/users/bob?_get_data=true')).body).toMatchObject({
    groups: ['ops'],
    tenants: {
      default_tenant: { 'tenant-role': 'viewer', roles: ['operations', 'viewer'] },
      t2: { 'tenant-role': null, roles: ['viewer'] },
    },
    tenant_roles: {
      direct: { default_tenant: 'viewer' },
      groups: { default_tenant: { operations: ['ops'] }, t2: { viewer: ['ops'] } },
    },
    group_system_roles: { default: ['ops'] },
  });
  expect((await call('GET', '/users/bob')).body).toMatchObject({ groups: 1, tenants: 2, tenant_roles: null });
  expect((await call('GET', '/tenants/t2?_get_data=true')).body).toMatchObject({
    groups: { ops: 'viewer' },
    users: {
      bob: { 'tenant-role': null, roles: ['viewer'] },
      carol: { 'tenant-role': 'manager', roles: ['manager'] },
    },
    user_roles: { direct: { carol: 'manager' }, groups: { ops: { role: 'viewer', users: ['bob'] } } },
  });
  expect((await call('GET', '/user-groups/ops?_get_data=true')).body).toEqual({
    name: 'ops',
    ldap_dn: null,
    role: 'default',
    users: ['bob'],
    tenants: { default_tenant: 'operations', t2: 'viewer' },
  });
  expect((await call('DELETE', '/user-groups/ops')).status).toBe(204);
  expect((await principal('bob', 'bob_pw', 'default_tenant')).roles.sort()).toEqual(['default', 'viewer']);
});

test('tenants: names, duplicates, membership rules, removal only when empty', async () => {
  expect((await call('POST', '/tenants/t3')).status).toBe(201);
  expect((await call('POST', '/tenants/t3', {})).status).toBe(409);
  expect(code(await call('POST', '/tenants/users', {}))).toBe('bad_parameters_error');
  expect(code(await call('POST', '/tenants/3t', {}))).toBe('bad_parameters_error');
  const member = { tenant_name: 't3', username: 'bob', role: '' };
  expect((await call('PUT', '/tenants/users', member)).body).toMatchObject({ name: 't3', users: 1 });
  expect((await call('PUT', '/tenants/users', member)).status).toBe(409);
  expect(code(await call('PUT', '/tenants/users', { ...member, username: 'dave', role: 'sys_admin' }))).toBe(
    'bad_parameters_error',
  );
  expect((await call('PATCH', '/tenants/users', { ...member, role: 'manager' })).status).toBe(200);
  expect((await principal('bob', 'bob_pw', 't3')).roles).toEqual(['default', 'manager']);
  expect(code(await call('DELETE', '/tenants/t3'))).toBe('illegal_action_error');
  expect((await call('DELETE', '/tenants/users', { tenant_name: 't3', username: 'bob' })).status).toBe(204);
  expect((await call('DELETE', '/tenants/users', { tenant_name: 't3', username: 'bob' })).status).toBe(404);
  expect((await call('DELETE', '/tenants/t3')).status).toBe(204);
  expect(code(await call('DELETE', '/tenants/default_tenant'))).toBe('illegal_action_error');
  await expect(principal('bob', 'bob_pw', 't3')).rejects.toMatchObject({ code: 'forbidden_error' });
});

test('who is no administrator sees own tenants only and may not touch others', async () => {
  const bob = await principal('bob', 'bob_pw', 'default_tenant');
  expect(
    (await call('GET', '/tenants', undefined, bob)).body.items.map((t: { name: string }) => t.name),
  ).toEqual(['default_tenant']);
  expect(
    code(await call('PUT', '/tenants/users', { tenant_name: 't2', username: 'bob', role: 'manager' }, bob)),
  ).toBe('forbidden_error');
  expect(code(await call('POST', '/users/carol', { password: 'taken_over' }, bob))).toBe('forbidden_error');
  expect(code(await call('POST', '/users/bob', { role: 'sys_admin' }, bob))).toBe('forbidden_error');
  expect(
    (await call('POST', '/users/bob', { show_getting_started: false }, bob)).body.show_getting_started,
  ).toBe(false);
  expect(await call('GET', '/permissions', undefined, bob)).toMatchObject({
    status: 401,
    body: { error_code: 'unauthorized_error' },
  });
});

test('tokens: made once, masked after, good until revoked or expired', async () => {
  const bob = await principal('bob', 'bob_pw');
  const made = (await call('POST', '/tokens', { description: 'mine', expiration_date: '+2h' }, bob)).body;
  expect(made).toMatchObject({ username: 'bob', role: 'default', description: 'mine', last_used: null });
  expect((await identity.rpc.authenticate({ token: made.value })).principal).toMatchObject({
    username: 'bob',
    authMethod: 'token',
  });
  expect((await call('GET', `/tokens/${made.id}`, undefined, bob)).body.value).toBe(
    `ctok-${made.id}-********`,
  );
  expect(
    (await call('GET', `/tokens/${made.id}`, undefined, await principal('carol', 'carol_pw'))).status,
  ).toBe(404);
  const { rows } = await identity.db.pool.query('select t::text as row from tokens t');
  expect(rows.some((r: { row: string }) => r.row.includes(made.value.slice(16)))).toBe(false);
  await identity.parts.loops.find((loop) => loop.name === 'write-activity')!.tickOnce();
  expect((await call('GET', `/tokens/${made.id}`, undefined, bob)).body.last_used).toMatch(/^\d{4}-.*Z$/);
  await expect(identity.rpc.authenticate({ token: `${made.value.slice(0, -1)}!` })).rejects.toThrow(
    'Invalid token structure',
  );
  await identity.db.pool.query(`update tokens set expiration_date = app_now() where id = $1`, [made.id]);
  await expect(identity.rpc.authenticate({ token: made.value })).rejects.toThrow('Token is expired');
  const second = (await call('POST', '/tokens', {}, bob)).body;
  expect((await call('GET', '/tokens?_include=id', undefined, bob)).body.items).toEqual([{ id: second.id }]);
  expect((await call('DELETE', `/tokens/${second.id}`, undefined, bob)).status).toBe(204);
  await expect(identity.rpc.authenticate({ token: second.value })).rejects.toMatchObject({
    code: 'unauthorized_error',
  });
  for (const bad of [
    { expiration_date: 'rubbish' },
    { expiration_date: '2001-01-01 00:00' },
    { description: 5 },
    { description: 'a\u0000' },
  ]) {
    expect(code(await call('POST', '/tokens', bad, bob))).toBe('bad_parameters_error');
  }
});

test('tokens that expired a week ago are purged, later ones stay readable', async () => {
  const make = async (): Promise<string> => (await call('POST', '/tokens', {})).body.id;
  const [old, recent, live] = [await make(), await make(), await make()];
  for (const [id, age] of [
    [old, '7 days 1 hour'],
    [recent, '6 days 23 hours'],
  ])
    await identity.db.pool.query(
      'update tokens set expiration_date = app_now() - $2::interval where id = $1',
      [id, age],
    );
  await identity.parts.loops.find((loop) => loop.name === 'purge-tokens')!.tickOnce();
  const statusOf = async (id: string) => (await call('GET', `/tokens/${id}`)).status;
  expect([await statusOf(old), await statusOf(recent), await statusOf(live)]).toEqual([404, 200, 200]);
});

test('GET /tokens with a password is both forms at once; its token is left out of lists and dies with the password', async () => {
  const dave = await principal('dave', 'new_pw');
  const { body } = await call('GET', '/tokens', undefined, dave);
  expect(body).toMatchObject({
    items: [],
    metadata: { pagination: { total: 0 } },
    role: 'default',
    username: 'dave',
  });
  const byToken = (await identity.rpc.authenticate({ token: body.value })).principal as Principal;
  expect((await call('GET', '/tokens', undefined, byToken)).body.value).toBeUndefined();
  expect((await call('GET', '/tokens?_size=5', undefined, dave)).body.value).toBeUndefined();
  await call('POST', '/users/dave', { password: 'newer_pw' });
  await expect(identity.rpc.authenticate({ token: body.value })).rejects.toMatchObject({
    code: 'unauthorized_error',
  });
});

test('the permission table is data: read, granted, taken', async () => {
  const { body } = await call('GET', '/permissions/viewer?_size=3');
  expect(body.metadata.pagination).toEqual({ total: 99, size: 3, offset: 0 });
  expect(body.items[0]).toEqual({ role: 'viewer', permission: 'agent_list' });
  expect((await call('PUT', '/permissions/viewer/made%20up')).body).toEqual({
    role: 'viewer',
    permission: 'made up',
  });
  expect((await call('PUT', '/permissions/viewer/made%20up')).status).toBe(409);
  expect((await call('DELETE', '/permissions/viewer/made%20up')).status).toBe(204);
  expect((await call('DELETE', '/permissions/viewer/made%20up')).status).toBe(404);
  for (const path of ['/permissions/nosuch', '/permissions/nosuch/x']) {
    expect(code(await call(path.endsWith('x') ? 'PUT' : 'GET', path))).toBe('not_found_error');
  }
  expect((await call('GET', '/roles?_include=name')).body.items.map((r: { name: string }) => r.name)).toEqual(
    ['sys_admin', 'manager', 'user', 'operations', 'viewer', 'default'],
  );
});
