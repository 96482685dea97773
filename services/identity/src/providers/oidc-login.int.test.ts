import { beginOf, callbackOf, type LoginRig, sessionIn, startLoginRig } from './testing/login-rig';
import { MANAGER } from './testing/test-browser';

let rig: LoginRig;
beforeAll(async () => {
  rig = await startLoginRig();
  await rig.put('corp');
});
afterAll(() => rig.stop());

const sql = async (text: string, values: unknown[] = []) =>
  (await rig.identity.db.pool.query(text, values)).rows;

test('a user of the organisation signs in, has what the groups map to, and lands where the sign-in began', async () => {
  const { location, session } = await rig.signIn('u-1', 'corp', '/ui/t/default_tenant/executions');
  expect(location).toBe(`${MANAGER}/ui/t/default_tenant/executions`);
  expect(await rig.whoIs(session, 'default_tenant')).toMatchObject({
    username: 'alice',
    role: 'default',
    roles: ['default', 'operations'],
    authMethod: 'session',
  });
  const { session: admin } = await rig.signIn('u-2');
  expect(await rig.whoIs(admin)).toMatchObject({
    username: 'bob',
    role: 'sys_admin',
    isBootstrapAdmin: false,
  });
});

test('the public list names id, name and type, and nothing else', async () => {
  const answer = await fetch(`${rig.identity.origin}/api/v3.1/login/providers`);
  expect(await answer.json()).toEqual({ items: [{ id: 'corp', name: 'corp', type: 'oidc' }] });
});

test('the second sign-in is the same user, under another name there as well; no secret is stored in clear', async () => {
  await rig.signIn('u-1');
  rig.op.people.get('u-1')!.preferred_username = 'alice-married';
  const { session } = await rig.signIn('u-1');
  rig.op.people.get('u-1')!.preferred_username = 'alice';
  expect((await rig.whoIs(session)).username).toBe('alice');
  const [row] = await sql(
    `select (select json_agg(p) from identity_providers p)::text || (select json_agg(u) from provider_users u)::text as text`,
  );
  expect(row.text).not.toContain(rig.op.clientSecret);
  const [{ refresh_sealed: sealed }] = await sql('select refresh_sealed from provider_users limit 1');
  expect(sealed.length).toBeGreaterThan(40);
});

test('roles by hand and roles by the mapping stand beside each other', async () => {
  const { session } = await rig.signIn('u-1');
  const member = { tenant_name: 'default_tenant', username: 'alice', role: 'viewer' };
  expect((await rig.identity.call('PUT', '/tenants/users', member)).status).toBe(200);
  expect((await rig.whoIs(session, 'default_tenant')).roles.sort()).toEqual([
    'default',
    'operations',
    'viewer',
  ]);
  const { body } = await rig.identity.call('GET', '/users/alice?_get_data=true');
  expect(body.tenants.default_tenant).toEqual({ 'tenant-role': 'viewer', roles: ['operations', 'viewer'] });
  expect(body.tenant_roles.direct).toEqual({ default_tenant: 'viewer' });
  await rig.put('corp', { mapping: [] });
  expect((await rig.whoIs(session, 'default_tenant')).roles.sort()).toEqual(['default', 'viewer']);
  await rig.put('corp');
  await rig.identity.call('DELETE', '/tenants/users', { tenant_name: 'default_tenant', username: 'alice' });
});

test('one person at two providers is two users, and a taken name is refused and not merged', async () => {
  await rig.signIn('u-1');
  await rig.put('second');
  expect(await rig.signIn('u-1', 'second')).toEqual({
    location: `${MANAGER}/ui/#sign-in=name_taken`,
    session: '',
  });
  await rig.identity.call('PUT', '/users', { username: 'Carol', password: 'carol_pw' });
  rig.op.people.set('u-3', { preferred_username: 'carol', groups: ['admins'] });
  expect((await rig.signIn('u-3')).location).toBe(`${MANAGER}/ui/#sign-in=name_taken`);
  rig.op.people.set('u-4', { preferred_username: 'no name at all', groups: [] });
  expect((await rig.signIn('u-4')).location).toBe(`${MANAGER}/ui/#sign-in=bad_name`);
});

test('a provider of users made before takes no others', async () => {
  await rig.put('second', { provision: 'preexisting' });
  rig.op.people.set('u-5', { preferred_username: 'ignored', groups: ['dev'] });
  expect((await rig.signIn('u-5', 'second')).location).toBe(`${MANAGER}/ui/#sign-in=unknown_user`);
  const made = await rig.identity.call('POST', '/identity-providers/second/users', {
    username: 'erin',
    subject: 'u-5',
  });
  expect([made.status, made.body]).toEqual([201, { username: 'erin', provider: 'second', subject: 'u-5' }]);
  const { session } = await rig.signIn('u-5', 'second');
  expect((await rig.whoIs(session, 'default_tenant')).roles).toContain('operations');
});

test('a user of a provider has no password here: none is taken, none can be set, and guesses lock nobody', async () => {
  const { session } = await rig.signIn('u-1');
  for (const password of ['', 'guess', 'x'.repeat(40)])
    await expect(
      rig.identity.rpc.authenticate({ username: 'alice', password: password || ' ' }),
    ).rejects.toMatchObject({
      code: 'unauthorized_error',
    });
  expect(await sql(`select failed_logins from users where username = 'alice'`)).toEqual([
    { failed_logins: 0 },
  ]);
  const answer = await rig.identity.call('POST', '/users/alice', { password: 'brand_new_pw' });
  expect([answer.status, answer.body.error_code]).toEqual([400, 'illegal_action_error']);
  expect((await rig.whoIs(session)).username).toBe('alice');
});

test('an inactive user opens no session; the local administrator needs no provider', async () => {
  await rig.signIn('u-1');
  await rig.identity.call('POST', '/users/active/alice', { action: 'deactivate' });
  expect((await rig.signIn('u-1')).location).toBe(`${MANAGER}/ui/#sign-in=inactive`);
  await rig.identity.call('POST', '/users/active/alice', { action: 'activate' });
  rig.op.broken.set('*', null);
  expect((await rig.browser().visit(beginOf('corp'))).status).toBe(303);
  rig.op.broken.clear();
  expect((await rig.identity.principal('admin', 'admin')).isBootstrapAdmin).toBe(true);
});

test('a provider that is away, disabled or unknown leads to a page that says so', async () => {
  await rig.put('corp', { name: 'Corp' });
  rig.op.broken.set('/token', 503);
  const by = rig.browser();
  const { location } = await by.visit(await rig.untilCallback(by, 'u-1'));
  rig.op.broken.clear();
  expect(location).toBe(`${MANAGER}/ui/#sign-in=provider_away`);
  await rig.identity.call('PATCH', '/identity-providers/corp', { is_enabled: false });
  expect((await rig.browser().visit(beginOf('corp'))).status).toBe(404);
  expect((await rig.browser().visit(beginOf('nosuch'))).status).toBe(404);
  await rig.identity.call('PATCH', '/identity-providers/corp', { is_enabled: true });
});

test('the audit log has the sign-in, in the name of the user', async () => {
  rig.op.people.get('u-1')!.preferred_username = 'called-otherwise';
  await rig.signIn('u-1');
  rig.op.people.get('u-1')!.preferred_username = 'alice';
  const rows = await sql(
    `select envelope->'payload'->>'username' as username from outbox
       where envelope->>'type' = 'audit.change-made.v1' and envelope->'payload'->>'route' = 'endOidcLogin'`,
  );
  expect(rows).toContainEqual({ username: 'alice' });
  expect(rows).not.toContainEqual({ username: 'called-otherwise' });
});

test('two browsers of one new user at the same moment make one user and two sessions', async () => {
  rig.op.people.set('u-9', { preferred_username: 'zoe', groups: ['dev'] });
  const browsers = [rig.browser(), rig.browser()];
  const callbacks: string[] = [];
  for (const by of browsers) callbacks.push(await rig.untilCallback(by, 'u-9'));
  const ends = await Promise.all(browsers.map((by, at) => by.visit(callbacks[at]!)));
  expect(ends.map(({ cookies }) => sessionIn(cookies)).filter((one) => one !== '')).toHaveLength(2);
  expect(await sql(`select count(*)::integer as n from users where username = 'zoe'`)).toEqual([{ n: 1 }]);
});

test('a state of another provider, and a callback at another provider, open nothing', async () => {
  await rig.put('second', { provision: 'jit' });
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  const mixedUp = callback.replace(callbackOf('corp'), callbackOf('second'));
  expect((await by.visit(mixedUp)).location).toBe(`${MANAGER}/ui/#sign-in=expired`);
});
