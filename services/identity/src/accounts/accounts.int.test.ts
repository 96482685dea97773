import { type JsonWebKey as CryptoJwk, createPublicKey } from 'node:crypto';
import type { Principal } from '@baton/contracts';
import { systemClock } from '@baton/kernel';
import { setFakeNow } from '@baton/testkit';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import { type LoginRig, startLoginRig } from '../providers/testing/login-rig';
import { newKey } from '../providers/testing/test-op';

/** The OpenID provider of the sign-in tests is the issuer of the workloads: it publishes its keys in the same way. */
let rig: LoginRig;
const SUBJECT = 'repo:org/shop:ref:refs/heads/main';
const call = (...args: Parameters<LoginRig['identity']['call']>) => rig.identity.call(...args);
const rules = (over: object = {}) => [
  {
    issuer: rig.op.issuer,
    audience: 'baton',
    subject: 'repo:org/shop:*',
    ca_certificate: rig.op.ca,
    ...over,
  },
];

beforeAll(async () => {
  rig = await startLoginRig();
  await call('POST', '/service-accounts', {
    name: 'ci-shop',
    description: 'pipelines of the shop',
    tenants: [{ name: 'default_tenant', role: 'operations' }],
    trust: rules(),
  });
});
afterEach(async () => {
  rig.op.broken.clear();
  rig.op.falsify.clear();
  await setFakeNow(rig.identity.db.pool, null);
});
afterAll(() => rig.stop());

const nowS = (): number => Math.floor(systemClock.now() / 1000);
const claims = (over: JWTPayload = {}): JWTPayload => ({
  iss: rig.op.issuer,
  aud: 'baton',
  sub: SUBJECT,
  iat: nowS(),
  exp: nowS() + 300,
  ...over,
});
const sign = async (payload: JWTPayload, key = rig.op.keys[0]!): Promise<string> =>
  new SignJWT(payload)
    .setProtectedHeader({ alg: 'RS256', kid: String(key.kid) })
    .sign(await importJWK(key as never, 'RS256'));
const plain = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

async function exchange(token: string, account = 'ci-shop') {
  const answer = await fetch(`${rig.identity.origin}/api/v3.1/token-exchange`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:jwt',
      service_account: account,
    }),
  });
  return { status: answer.status, body: (await answer.json()) as Record<string, string> };
}
const whoIs = async (token: string): Promise<Principal> =>
  (await rig.identity.rpc.authenticate({ token, tenant: 'default_tenant' })).principal as Principal;

test('a workload gets a token of the service account for fifteen minutes', async () => {
  const { status, body } = await exchange(await sign(claims()));
  expect([status, body]).toEqual([
    200,
    {
      access_token: expect.stringMatching(/^ctok-/),
      issued_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      token_type: 'N_A',
      expires_in: 900,
    },
  ]);
  expect(await whoIs(body.access_token!)).toMatchObject({
    username: 'ci-shop',
    roles: ['default', 'operations'],
    authMethod: 'token',
  });
  await setFakeNow(rig.identity.db.pool, new Date(systemClock.now() + 15 * 60_000 + 1_000).toISOString());
  await expect(whoIs(body.access_token!)).rejects.toMatchObject({ code: 'unauthorized_error' });
});

test.each<[string, () => Promise<string> | string]>([
  ['no algorithm', () => `${plain({ alg: 'none' })}.${plain(claims())}.`],
  [
    'HS256 with the public key',
    () => {
      const publicKey = createPublicKey({ key: rig.op.keys[0] as CryptoJwk, format: 'jwk' });
      const secret = Buffer.from(publicKey.export({ type: 'spki', format: 'pem' }));
      return new SignJWT(claims()).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(secret);
    },
  ],
  ['a key of somebody else', () => sign(claims(), newKey('first'))],
  ['a key that is not known', () => sign(claims(), newKey('nosuch'))],
  ['another issuer', () => sign(claims({ iss: 'https://evil.example' }))],
  ['another audience', () => sign(claims({ aud: 'cloud' }))],
  ['no audience', () => sign({ iss: rig.op.issuer, sub: SUBJECT, exp: nowS() + 300 })],
  ['another subject', () => sign(claims({ sub: 'repo:org/shopping:ref:main' }))],
  ['no subject', () => sign({ iss: rig.op.issuer, aud: 'baton', exp: nowS() + 300 })],
  ['no end', () => sign({ iss: rig.op.issuer, aud: 'baton', sub: SUBJECT })],
  ['an end 90 s ago', () => sign(claims({ exp: nowS() - 90 }))],
  ['a begin in two minutes', () => sign(claims({ nbf: nowS() + 120 }))],
  ['no form at all', () => 'x'],
])('a JWT with %s is refused', async (_name, make) => {
  const { status, body } = await exchange(await make());
  expect([status, body.error_code]).toEqual([401, 'unauthorized_error']);
});

test('a refusal does not show which accounts exist, and only issuers that an administrator named are asked', async () => {
  const bad = await exchange(await sign(claims({ sub: 'x' })));
  const before = rig.op.asked.length;
  const nobody = await exchange(await sign(claims()), 'nosuch');
  const person = await exchange(await sign(claims()), 'admin');
  expect([nobody, person].map(({ status, body }) => [status, body.message])).toEqual([
    [401, bad.body.message],
    [401, bad.body.message],
  ]);
  expect(rig.op.asked).toHaveLength(before);
});

test('unknown keys do not make the manager ask the issuer again and again', async () => {
  await exchange(await sign(claims()));
  const before = rig.op.asked.length;
  for (let at = 0; at < 5; at++) await exchange(await sign(claims(), newKey(`odd-${at}`)));
  expect(rig.op.asked).toHaveLength(before);
});

test('an issuer that is away, or whose document names another one, gives no token', async () => {
  await call('POST', '/service-accounts', {
    name: 'fresh',
    trust: rules({ audience: 'fresh', ca_certificate: `${rig.op.ca}\n` }),
  });
  const token = await sign(claims({ aud: 'fresh' }));
  rig.op.broken.set('*', null);
  expect((await exchange(token, 'fresh')).status).toBe(401);
  rig.op.broken.clear();
  rig.op.falsify.set('/.well-known/openid-configuration', (body) => ({
    ...body,
    issuer: 'https://evil.example',
  }));
  expect((await exchange(token, 'fresh')).status).toBe(401);
  rig.op.falsify.set('/.well-known/openid-configuration', (body) => ({
    ...body,
    jwks_uri: 'https://169.254.169.254/',
  }));
  expect((await exchange(token, 'fresh')).status).toBe(401);
  rig.op.falsify.clear();
  expect((await exchange(token, 'fresh')).status).toBe(200);
});

test('an administrator makes named tokens that end, and revokes them', async () => {
  const made = await call('POST', '/service-accounts/ci-shop/tokens', {
    description: 'night run',
    expiration_date: '+30d',
  });
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: expect.any(String),
      value: expect.stringMatching(/^ctok-/),
      description: 'night run',
      expiration_date: expect.stringMatching(/Z$/),
    },
  ]);
  expect((await whoIs(made.body.value)).username).toBe('ci-shop');
  const { body } = await call('GET', '/tokens?username=ci-shop');
  expect(JSON.stringify(body)).not.toContain(made.body.value);
  expect((await call('DELETE', `/tokens/${made.body.id}`)).status).toBe(204);
  await expect(whoIs(made.body.value)).rejects.toMatchObject({ code: 'unauthorized_error' });
  for (const expiration_date of ['+2y', '2000-01-01 00:00', 'never']) {
    const refused = await call('POST', '/service-accounts/ci-shop/tokens', {
      description: 'x',
      expiration_date,
    });
    expect([refused.status, refused.body.error_code]).toEqual([400, 'bad_parameters_error']);
  }
});

test('a service account makes no tokens of its own, and has no password', async () => {
  const { body } = await exchange(await sign(claims()));
  const itself = await whoIs(body.access_token!);
  const own = await call(
    'POST',
    '/tokens',
    {},
    { ...itself, permissions: [...itself.permissions, 'create_token'] },
  );
  expect([own.status, own.body.error_code]).toEqual([403, 'forbidden_error']);
  await expect(
    rig.identity.rpc.authenticate({ username: 'ci-shop', password: 'guess' }),
  ).rejects.toMatchObject({ code: 'unauthorized_error' });
  const set = await call('POST', '/users/ci-shop', { password: 'brand_new_pw' });
  expect([set.status, set.body.error_code]).toEqual([400, 'illegal_action_error']);
});

test('trust that was taken, and an account that is inactive or gone, give no tokens', async () => {
  await call('POST', '/service-accounts', { name: 'short', trust: rules() });
  const token = await sign(claims());
  expect((await exchange(token, 'short')).status).toBe(200);
  await call('POST', '/users/active/short', { action: 'deactivate' });
  expect((await exchange(token, 'short')).status).toBe(401);
  await call('POST', '/users/active/short', { action: 'activate' });
  const changed = await call('PUT', '/service-accounts/short/trust', { trust: [] });
  expect([changed.status, changed.body.trust]).toEqual([200, []]);
  expect((await exchange(token, 'short')).status).toBe(401);
  expect((await call('DELETE', '/service-accounts/short')).status).toBe(204);
  expect((await call('DELETE', '/service-accounts/short')).status).toBe(404);
});

test('names and settings are checked, and users are no service accounts', async () => {
  const create = async (body: object) => (await call('POST', '/service-accounts', body)).body;
  expect(await create({ name: 'CI-SHOP' })).toMatchObject({ error_code: 'conflict_error' });
  expect(await create({ name: 'x1', tenants: [{ name: 'defalt_tenant', role: 'user' }] })).toMatchObject({
    error_code: 'bad_parameters_error',
    field: 'tenants.0.name',
    nearest: 'default_tenant',
  });
  expect(await create({ name: 'x1', role: 'user' })).toMatchObject({ error_code: 'bad_parameters_error' });
  expect(await create({ name: 'x1', trust: rules({ subject: '*' }) })).toMatchObject({
    field: 'trust.0.subject',
  });
  expect((await call('DELETE', '/service-accounts/admin')).status).toBe(404);
  expect((await call('GET', '/service-accounts/x1')).status).toBe(404);
});

test('the access of a user says where each role comes from', async () => {
  await rig.put('corp');
  await rig.signIn('u-1');
  await call('POST', '/user-groups', { group_name: 'ops', role: 'sys_admin' });
  await call('PUT', '/user-groups/users', { group_name: 'ops', username: 'alice' });
  await call('PUT', '/tenants/users', { tenant_name: 'default_tenant', username: 'alice', role: 'viewer' });
  expect((await call('GET', '/users/alice/access')).body).toEqual({
    username: 'alice',
    kind: 'provider',
    provider: 'corp',
    subject: 'u-1',
    provider_groups: ['dev'],
    active: true,
    system_roles: [
      { role: 'default', from: [{ kind: 'user', name: null, groups: [] }] },
      { role: 'sys_admin', from: [{ kind: 'group', name: 'ops', groups: [] }] },
    ],
    tenants: [
      {
        name: 'default_tenant',
        roles: [
          { role: 'operations', from: [{ kind: 'provider', name: 'corp', groups: ['dev'] }] },
          { role: 'viewer', from: [{ kind: 'user', name: null, groups: [] }] },
        ],
      },
    ],
    sees_all_tenants: true,
  });
  expect((await call('GET', '/users/ci-shop/access')).body).toMatchObject({ kind: 'service_account' });
  expect((await call('GET', '/users/nosuch/access')).status).toBe(404);
});

test('users see their own access, and that of nobody else', async () => {
  await call('PUT', '/users', { username: 'bob', password: 'bob_pw' });
  const bob = await rig.identity.principal('bob', 'bob_pw');
  expect((await call('GET', '/users/BOB/access', undefined, bob)).body).toMatchObject({
    username: 'bob',
    kind: 'local',
  });
  expect((await call('GET', '/users/admin/access', undefined, bob)).status).toBe(403);
});
