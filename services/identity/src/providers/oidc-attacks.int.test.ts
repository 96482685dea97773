/** Row S7 of the security matrix for OpenID Connect: a real provider, and answers that were falsified on their way. */
import { type JsonWebKey as CryptoJwk, createPublicKey } from 'node:crypto';
import { systemClock } from '@baton/kernel';
import { setFakeNow } from '@baton/testkit';
import { decodeJwt, importJWK, type JWTPayload, SignJWT } from 'jose';
import { beginOf, callbackOf, type LoginRig, sessionIn, startLoginRig } from './testing/login-rig';
import { MANAGER, type TestBrowser } from './testing/test-browser';
import { newKey } from './testing/test-op';

let rig: LoginRig;
beforeAll(async () => {
  rig = await startLoginRig();
  await rig.put('corp');
  await rig.put('second');
});
afterEach(() => {
  rig.op.falsify.clear();
  rig.op.broken.clear();
  rig.op.replaced.clear();
});
afterAll(() => rig.stop());

const EXPIRED = { location: `${MANAGER}/ui/#sign-in=expired`, session: '' };
const BAD_ANSWER = { location: `${MANAGER}/ui/#sign-in=bad_answer`, session: '' };
const AWAY = { location: `${MANAGER}/ui/#sign-in=provider_away`, session: '' };
const nowS = (): number => Math.floor(systemClock.now() / 1000);

/** Visits a callback; returns where it led and the session, empty without one. */
async function arrive(by: TestBrowser, callback: string) {
  const { location, cookies } = await by.visit(callback);
  return { location, session: sessionIn(cookies) };
}

/** Replaces the ID token of the next sign-in, and signs in. */
async function signInWith(make: (claims: JWTPayload) => Promise<string> | string) {
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  let made = '';
  rig.op.falsify.set('/token', (body) => ({ ...body, id_token: made }));
  // The claims of a token that would have been good: only the nonce differs from attempt to attempt.
  const nonce = nonceOf(by);
  made = await make({
    iss: rig.op.issuer,
    aud: rig.op.clientId,
    sub: 'u-1',
    nonce,
    iat: nowS(),
    exp: nowS() + 300,
  });
  return arrive(by, callback);
}

/** The nonce that the manager sent with the attempt of this browser. */
const nonces = new WeakMap<TestBrowser, string>();
const nonceOf = (by: TestBrowser): string => nonces.get(by) ?? '';

async function sign(
  claims: JWTPayload,
  key = rig.op.keys[0]!,
  header: Record<string, unknown> = {},
): Promise<string> {
  return new SignJWT(claims)
    .setProtectedHeader({ alg: 'RS256', kid: String(key.kid), ...header })
    .sign(await importJWK(key as never, 'RS256'));
}
const plain = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

beforeEach(() => {
  // Browsers of this suite note the nonce of the redirect to the provider.
  const { browser } = rig;
  rig.browser = () => {
    const by = browser();
    const { follow } = by;
    by.follow = (url, until) =>
      follow(url, (location) => {
        const nonce = new URL(location).searchParams.get('nonce');
        if (nonce !== null) nonces.set(by, nonce);
        return until(location);
      });
    return by;
  };
});

test('the forge of this suite makes tokens that are taken when nothing is wrong with them', async () => {
  const { session } = await signInWith((claims) =>
    sign({ ...claims, preferred_username: 'alice', groups: [] }),
  );
  expect((await rig.whoIs(session)).username).toBe('alice');
});

test.each<[string, (claims: JWTPayload) => Promise<string> | string]>([
  ['no algorithm', (claims) => `${plain({ alg: 'none' })}.${plain(claims)}.`],
  ['an algorithm in odd letters', (claims) => `${plain({ alg: 'nOnE' })}.${plain(claims)}.`],
  [
    'HS256 with the public key as the secret',
    (claims) => {
      const publicKey = createPublicKey({ key: rig.op.keys[0] as CryptoJwk, format: 'jwk' });
      const pem = publicKey.export({ type: 'spki', format: 'pem' });
      return new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'first' }).sign(Buffer.from(pem));
    },
  ],
  [
    'HS256 with the secret of the client',
    (claims) =>
      new SignJWT(claims)
        .setProtectedHeader({ alg: 'HS256' })
        .sign(Buffer.from(rig.op.clientSecret.padEnd(64))),
  ],
  ['a key that the provider does not publish', (claims) => sign(claims, newKey('first'))],
  [
    'its own key in the header',
    (claims) => {
      const key = newKey('mine');
      const { d: _d, p: _p, q: _q, dp: _dp, dq: _dq, qi: _qi, ...jwk } = key;
      return sign(claims, key, { jwk });
    },
  ],
  [
    'a signature that was cut off',
    async (claims) => `${(await sign(claims)).split('.').slice(0, 2).join('.')}.`,
  ],
  ['another issuer', (claims) => sign({ ...claims, iss: 'https://evil.example' })],
  ['another audience', (claims) => sign({ ...claims, aud: 'another-client' })],
  [
    'several audiences, the authorized party another',
    (claims) => sign({ ...claims, aud: [rig.op.clientId, 'other'], azp: 'other' }),
  ],
  ['no audience', ({ aud: _aud, ...claims }) => sign(claims)],
  ['no nonce', ({ nonce: _nonce, ...claims }) => sign(claims)],
  ['the nonce of another attempt', (claims) => sign({ ...claims, nonce: 'x'.repeat(43) })],
  ['an end 90 s ago', (claims) => sign({ ...claims, iat: nowS() - 400, exp: nowS() - 90 })],
  ['no end', ({ exp: _exp, ...claims }) => sign(claims)],
  ['a begin in two minutes', (claims) => sign({ ...claims, nbf: nowS() + 120 })],
  ['no subject', ({ sub: _sub, ...claims }) => sign(claims)],
  ['the subject of another person than userinfo', (claims) => sign({ ...claims, sub: 'u-2' })],
])('an ID token with %s opens nothing', async (_name, make) => {
  expect(await signInWith(make)).toEqual(BAD_ANSWER);
});

test('a clock that differs by less than a minute hurts nobody', async () => {
  const behind = await signInWith((claims) => sign({ ...claims, iat: nowS() - 400, exp: nowS() - 30 }));
  expect(behind.session).not.toBe('');
  const ahead = await signInWith((claims) => sign({ ...claims, iat: nowS() + 30, nbf: nowS() + 30 }));
  expect(ahead.session).not.toBe('');
});

test('an answer without an ID token opens nothing', async () => {
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  rig.op.falsify.set('/token', ({ id_token: _token, ...body }) => body);
  expect(await arrive(by, callback)).toEqual(BAD_ANSWER);
});

test('keys that were rotated are taken at once, tokens of the old key no more', async () => {
  const old = rig.op.keys[0]!;
  await rig.signIn('u-1');
  await rig.op.rotate();
  expect((await rig.signIn('u-1')).session).not.toBe('');
  expect(await signInWith((claims) => sign(claims, old))).toEqual(BAD_ANSWER);
});

test('a callback works once: neither it, nor its state with another code, opens a second session', async () => {
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  const attempt = new Map(by.cookies(MANAGER));
  expect((await arrive(by, callback)).session).not.toBe('');
  // The cookie was taken away.
  expect(await arrive(by, callback)).toEqual(EXPIRED);
  // Somebody kept a copy of the cookie; the provider refuses the code.
  for (const [name, value] of attempt) by.cookies(MANAGER).set(name, value);
  expect(await arrive(by, callback)).toEqual({ location: `${MANAGER}/ui/#sign-in=refused`, session: '' });
});

test('a state opens one session, even when the provider would take its code twice', async () => {
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  const attempt = new Map(by.cookies(MANAGER));
  let answer: Record<string, unknown> | null = null;
  rig.op.falsify.set('/token', (body) => (answer = body));
  expect((await arrive(by, callback)).session).not.toBe('');
  rig.op.replaced.set('/token', answer!);
  for (const [name, value] of attempt) by.cookies(MANAGER).set(name, value);
  expect(await arrive(by, callback)).toEqual(EXPIRED);
});

test('a callback of another browser opens nothing: a link cannot sign a victim in as somebody else', async () => {
  const attacker = rig.browser();
  const callback = await rig.untilCallback(attacker, 'u-2');
  expect(await arrive(rig.browser(), callback)).toEqual(EXPIRED);
  const victim = rig.browser();
  await rig.untilCallback(victim, 'u-1');
  expect(await arrive(victim, callback)).toEqual(EXPIRED);
});

test('two attempt cookies count as none', async () => {
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  const [[name, value]] = [...by.cookies(MANAGER)] as [[string, string]];
  by.cookies(MANAGER).set(`x=1; ${name}`, value);
  expect(await arrive(by, callback)).toEqual(EXPIRED);
});

test('state: none, another one, twice', async () => {
  const by = rig.browser();
  const callback = new URL(await rig.untilCallback(by, 'u-1'));
  const cookies = new Map(by.cookies(MANAGER));
  for (const state of [null, '', 'x'.repeat(43)]) {
    for (const [name, value] of cookies) by.cookies(MANAGER).set(name, value);
    const url = new URL(callback);
    if (state === null) url.searchParams.delete('state');
    else url.searchParams.set('state', state);
    expect(await arrive(by, url.href)).toEqual(EXPIRED);
  }
  for (const [name, value] of cookies) by.cookies(MANAGER).set(name, value);
  const twice = `${callback.href}&state=${callback.searchParams.get('state')}`;
  expect((await arrive(by, twice)).session).toBe('');
});

test('mix-up: the callback of one provider at another, and an answer that names another issuer, open nothing', async () => {
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  const cookies = new Map(by.cookies(MANAGER));
  expect(await arrive(by, callback.replace(callbackOf('corp'), callbackOf('second')))).toEqual(EXPIRED);
  for (const [name, value] of cookies) by.cookies(MANAGER).set(name, value);
  const url = new URL(callback);
  url.searchParams.set('iss', 'https://evil.example');
  expect(await arrive(by, url.href)).toEqual(BAD_ANSWER);
});

test('an attempt is over after ten minutes', async () => {
  const by = rig.browser();
  const callback = await rig.untilCallback(by, 'u-1');
  const at = systemClock.now() + 10 * 60_000 + 1_000;
  await setFakeNow(rig.identity.db.pool, new Date(at).toISOString());
  expect(await arrive(by, callback)).toEqual(EXPIRED);
  await setFakeNow(rig.identity.db.pool, null);
});

test('the page after the sign-in is one of the console, whatever the link said', async () => {
  for (const target of [
    'https://evil.example',
    '//evil.example/ui',
    '/\\evil.example',
    '/ui/../..//evil.example',
  ]) {
    const { location, session } = await rig.signIn('u-1', 'corp', target);
    expect(session).not.toBe('');
    expect(new URL(location).origin).toBe(MANAGER);
    expect(new URL(location).pathname).toMatch(/^\/ui/);
  }
});

test('what goes to the provider: code flow, S256, state, nonce and the callback of this manager', async () => {
  const { location, cookies } = await rig.browser().visit(beginOf('corp'));
  const asked = Object.fromEntries(new URL(location).searchParams);
  expect(asked).toMatchObject({
    response_type: 'code',
    redirect_uri: callbackOf('corp'),
    code_challenge_method: 'S256',
    client_id: 'baton',
  });
  for (const name of ['state', 'nonce', 'code_challenge']) expect(asked[name]!.length).toBeGreaterThan(42);
  expect(cookies[0]).toMatch(
    /^__Host-baton_login=[\w-]+; Path=\/; Secure; HttpOnly; SameSite=Lax; Max-Age=600$/,
  );
  expect(location).not.toContain(rig.op.clientSecret);
});

test('the refusal of the user is told as one, and what the provider writes goes into no page', async () => {
  const by = rig.browser();
  const url = new URL(await rig.untilCallback(by, 'u-1'));
  url.searchParams.delete('code');
  url.searchParams.set('error', 'access_denied');
  url.searchParams.set('error_description', '<script>alert(1)</script>');
  expect(await arrive(by, url.href)).toEqual({ location: `${MANAGER}/ui/#sign-in=refused`, session: '' });
});

test.each([
  ['another issuer', (body: object) => ({ ...body, issuer: 'https://evil.example' }), 'bad_answer'],
  ['256 kB and more', (body: object) => ({ ...body, filler: 'x'.repeat(300_000) }), 'provider_away'],
  [
    'an authorization endpoint without TLS',
    (body: object) => ({ ...body, authorization_endpoint: 'http://evil.example/' }),
    'bad_answer',
  ],
])('a discovery document with %s begins nothing', async (_name, change, code) => {
  await rig.put('fresh');
  rig.op.falsify.set('/.well-known/openid-configuration', change);
  const { location } = await rig.browser().visit(beginOf('fresh'));
  expect(location).toBe(`${MANAGER}/ui/#sign-in=${code}`);
  await rig.identity.call('DELETE', '/identity-providers/fresh');
});

test('endpoints of a discovery document lead into no network of the manager', async () => {
  await rig.put('inside');
  for (const endpoint of [
    'https://169.254.169.254/latest',
    'https://10.0.0.1/token',
    'https://[::1]/',
    'http://127.0.0.1:5432/',
  ]) {
    await rig.identity.call('POST', '/identity-providers/inside/test', {});
    rig.op.falsify.set('/.well-known/openid-configuration', (body) => ({ ...body, jwks_uri: endpoint }));
    const { body } = await rig.identity.call('POST', '/identity-providers/inside/test', {});
    expect(body).toMatchObject({ ok: false });
    rig.op.falsify.clear();
  }
});

test.each([
  'https://169.254.169.254',
  'https://10.1.2.3',
  'https://localhost.localdomain.invalid',
  'https://[::ffff:10.0.0.1]',
])('the issuer %s is not asked', async (issuer) => {
  await rig.put('ssrf', { issuer });
  const { body } = await rig.identity.call('POST', '/identity-providers/ssrf/test', {});
  expect(body).toMatchObject({ ok: false, step: 'address' });
  expect((await rig.browser().visit(beginOf('ssrf'))).location).toBe(AWAY.location);
  await rig.identity.call('DELETE', '/identity-providers/ssrf');
});

test('a certificate that is not trusted is told as that, and nothing is sent', async () => {
  await rig.put('strange', { ca_certificate: null });
  const before = rig.op.asked.length;
  const { body } = await rig.identity.call('POST', '/identity-providers/strange/test', {});
  expect(body).toMatchObject({ ok: false, step: 'discovery', message: expect.stringContaining('TLS') });
  expect(rig.op.asked).toHaveLength(before);
});

test('claims of a token that was judged are read, not those of one that only looks like it', () => {
  // Guards the forge: a token that jose cannot even read would prove nothing above.
  expect(decodeJwt(`${plain({ alg: 'none' })}.${plain({ sub: 'u-1' })}.`).sub).toBe('u-1');
});
