import type { Principal } from '@baton/contracts';
import { type LoginRig, startLoginRig } from './testing/login-rig';

let rig: LoginRig;
beforeAll(async () => {
  rig = await startLoginRig();
  await rig.identity.call('PUT', '/users', { username: 'bob', password: 'bob_pw' });
});
afterAll(() => rig.stop());

const put = async (id: string, over: object, as?: Principal) =>
  rig.identity.call('PUT', `/identity-providers/${id}`, { ...rig.settings(), ...over }, as);

test('an administrator makes a provider; its secret is never read back, and stays when it is not given', async () => {
  const made = await put('corp', { name: 'Our company' });
  expect([made.status, made.body]).toEqual([
    200,
    {
      id: 'corp',
      type: 'oidc',
      name: 'Our company',
      issuer: rig.op.issuer,
      client_id: 'baton',
      has_client_secret: true,
      scopes: ['openid', 'profile', 'groups', 'offline_access'],
      parameters: {},
      claims: { username: 'preferred_username', groups: 'groups', strip_suffix: null },
      mapping: rig.settings().mapping,
      provision: 'jit',
      ca_certificate: rig.op.ca,
      is_enabled: true,
      users: 0,
      created_at: expect.stringMatching(/Z$/),
    },
  ]);
  const again = await put('corp', { client_secret: undefined });
  expect(again.body).toMatchObject({ has_client_secret: true, name: 'corp' });
  expect((await rig.signIn('u-1')).session).not.toBe('');
  const patched = await rig.identity.call('PATCH', '/identity-providers/corp', { name: 'Corp' });
  expect(patched.body).toMatchObject({ name: 'Corp', issuer: rig.op.issuer, users: 1 });
  const all = await rig.identity.call('GET', '/identity-providers');
  expect(JSON.stringify(all.body)).not.toContain(rig.op.clientSecret);
  expect(all.body.items.map(({ id }: { id: string }) => id)).toEqual(['corp']);
});

test('nobody but administrators sees or changes providers', async () => {
  const bob = await rig.identity.principal('bob', 'bob_pw');
  const granted = { ...bob, permissions: [...bob.permissions, 'ldap_set'] };
  for (const as of [bob, granted])
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/corp'],
      ['PUT', '/corp'],
      ['PATCH', '/corp'],
      ['DELETE', '/corp'],
      ['POST', '/corp/test'],
      ['POST', '/corp/users'],
    ] as const) {
      const bodies: Record<string, object> = {
        PUT: rig.settings(),
        POST: { username: 'mallory', subject: 'm' },
      };
      const body = method === 'GET' ? undefined : (bodies[method] ?? {});
      const answer = await rig.identity.call(method, `/identity-providers${path}`, body, as);
      expect([method, path, answer.status]).toEqual([method, path, 403]);
    }
});

test.each<[object, string]>([
  [{ issuer: 'http://idp.example' }, 'issuer'],
  [{ issuer: undefined }, 'issuer'],
  [{ client_id: undefined }, 'client_id'],
  [{ scopes: ['profile'] }, 'scopes'],
  [{ scopes: ['openid', 'a b'] }, 'scopes.1'],
  [{ ca_certificate: 'no pem' }, 'ca_certificate'],
  [{ parameters: { state: 'x' } }, 'parameters.state'],
  [
    { mapping: [{ group: 'g', tenants: [{ name: 'default_tenat', role: 'user' }] }] },
    'mapping.0.tenants.0.name',
  ],
  [{ mapping: [{ group: 'g', role: 'user' }] }, 'role'],
  [{ type: 'saml' }, 'type'],
  [{ provision: 'never' }, 'provision'],
])('settings %j are refused at %p', async (over, field) => {
  const { status, body } = await put('wrong', over);
  expect([status, body.error_code]).toEqual([400, 'bad_parameters_error']);
  expect(JSON.stringify(body)).toContain(field);
});

test('an id that is no part of an address is refused', async () => {
  for (const id of ['Corp', '1corp', 'a_b', 'a%2Fb']) expect((await put(id, {})).status).toBe(400);
});

test('a provider with users is neither deleted nor led to another issuer', async () => {
  await rig.signIn('u-1');
  const gone = await rig.identity.call('DELETE', '/identity-providers/corp');
  expect([gone.status, gone.body.error_code]).toEqual([400, 'dependent_exists_error']);
  const moved = await rig.identity.call('PATCH', '/identity-providers/corp', {
    issuer: 'https://other.example',
  });
  expect([moved.status, moved.body.error_code]).toEqual([400, 'illegal_action_error']);
  await put('empty', {});
  expect((await rig.identity.call('DELETE', '/identity-providers/empty')).status).toBe(204);
  expect((await rig.identity.call('DELETE', '/identity-providers/empty')).status).toBe(404);
  expect((await rig.identity.call('PATCH', '/identity-providers/empty', {})).status).toBe(404);
});

test('the test of a provider tells in one sentence what is wrong', async () => {
  const test = async (over: object) => {
    await put('tried', over);
    return (await rig.identity.call('POST', '/identity-providers/tried/test', {})).body;
  };
  expect(await test({})).toEqual({
    ok: true,
    step: 'done',
    message: `The provider answers as ${rig.op.issuer} and publishes 1 key.`,
    warnings: [],
  });
  const { warnings } = await test({ scopes: ['openid', 'odd'], client_secret: undefined });
  expect(warnings.join(' ')).toMatch(/scope odd.*offline_access/);
  expect(await test({ issuer: `${rig.op.issuer}/nowhere` })).toMatchObject({ ok: false, step: 'discovery' });
  expect(await test({ issuer: 'https://127.0.0.1:1' })).toMatchObject({
    ok: false,
    message: expect.stringContaining('nothing listens'),
  });
});

test('a removed tenant takes the roles of its mapping with it, and the rule gives nothing any more', async () => {
  await rig.identity.call('POST', '/tenants/short', {});
  await put('corp', { mapping: [{ group: 'dev', tenants: [{ name: 'short', role: 'user' }] }] });
  const { session } = await rig.signIn('u-1');
  expect((await rig.whoIs(session, 'short')).roles).toContain('user');
  expect((await rig.identity.call('DELETE', '/tenants/short')).status).toBe(204);
  const { session: next } = await rig.signIn('u-1');
  expect((await rig.whoIs(next)).tenants).toEqual([]);
});
