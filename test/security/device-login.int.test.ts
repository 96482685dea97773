import { request } from 'node:http';
import { eventually } from '@baton/testkit';
import { callbackOf, sessionIn } from '../../services/identity/src/providers/testing/login-rig';
import { MANAGER, testBrowser } from '../../services/identity/src/providers/testing/test-browser';
import { startTestOp, type TestOp } from '../../services/identity/src/providers/testing/test-op';
import { type Called, startWorld, type World } from '../gateway/world';

/**
 * S7: the login of a program by a person with a browser, through the gateway: between processes and within one. A phisher, a page of
 * another site, and clients that forge headers. Codes, races and limits are in services/identity/src/devices/device-login.int.test.ts.
 */

/** Headers of a trusted proxy. The last address in front of it is the client's. */
const from = (address: string): Record<string, string> => ({
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'manager.example',
  'x-forwarded-for': `198.51.100.1, ${address}`,
});
/** Headers of the gateway, which nobody outside may set. */
const FORGED = { 'x-baton-address': '203.0.113.1', 'x-baton-origin': 'https://evil.example' };
const MARKER = { 'x-baton-request': '1' };
const PROGRAM = '192.0.2.7';
const PERSON = '192.0.2.8';

describe.each(['services', 'one process'])('%s', (kind) => {
  let world: World;
  let op: TestOp;
  beforeAll(async () => {
    op = await startTestOp([callbackOf('corp')]);
    op.people.set('u-1', { preferred_username: 'alice', groups: ['dev'] });
    world = await startWorld({
      isLocal: kind === 'one process',
      allRoutes: true,
      env: { BATON_LOGIN_PROVIDER_ALLOW: '127.0.0.1', BATON_TRUSTED_PROXIES: '127.0.0.1' },
    });
    const provider = await world.call('PUT', '/identity-providers/corp', {
      as: 'admin:admin',
      body: {
        type: 'oidc',
        issuer: op.issuer,
        client_id: op.clientId,
        client_secret: op.clientSecret,
        ca_certificate: op.ca,
        scopes: ['openid', 'profile', 'groups', 'offline_access'],
        mapping: [{ group: 'dev', tenants: [{ name: 'default_tenant', role: 'user' }] }],
      },
    });
    expect(provider.status).toBe(200);
  });
  afterAll(async () => {
    await world.stop();
    await op.stop();
  });

  const begin = async (address = PROGRAM): Promise<Called> =>
    world.call('POST', '/login/device', {
      headers: { ...from(address), ...FORGED },
      body: { client_name: 'baton on laptop' },
    });
  const poll = (deviceCode: string): Promise<Called> =>
    world.call('POST', '/login/device/token', { body: { device_code: deviceCode } });
  const decide = (
    what: string,
    code: string,
    cookie: string,
    headers: Record<string, string> = MARKER,
  ): Promise<Called> =>
    world.call('POST', `/login/device/${what}`, {
      headers: { ...from(PERSON), ...FORGED, ...headers, ...(cookie === '' ? {} : { cookie }) },
      body: { user_code: code, ...(what === 'approve' ? { is_confirmed: true } : {}) },
    });

  async function signIn(): Promise<string> {
    const body = { username: 'admin', password: 'admin' };
    const answer = await world.call('POST', '/session', { body, headers: from(PERSON) });
    return answer.headers.get('set-cookie')!.split(';', 1)[0]!;
  }

  /** Signs in at the provider; returns the cookie, and where the browser is led to. */
  async function signInAtProvider(): Promise<{ cookie: string; location: string }> {
    op.signsIn = 'u-1';
    const by = testBrowser(world.gateways[0]!, op.ca, from(PERSON));
    const address = `${MANAGER}/api/v3.1/login/oidc/corp?return_to=${encodeURIComponent('/ui/-/device')}`;
    const { location, cookies } = await by.visit(
      await by.follow(address, (url) => url.startsWith(callbackOf('corp'))),
    );
    return { cookie: `__Host-baton_session=${sessionIn(cookies)}`, location };
  }

  test('the program learns the page of the manager that it asked, and the person where it asked from', async () => {
    const { body } = await begin();
    expect(body).toMatchObject({
      verification_uri: 'https://manager.example/device',
      verification_uri_complete: `https://manager.example/device#user_code=${body.user_code}`,
    });
    const cookie = await signIn();
    const seen = await decide('lookup', body.user_code, cookie);
    expect(seen.body).toMatchObject({
      address: PROGRAM,
      is_same_address: false,
      client_name: 'baton on laptop',
    });
    const near = (await begin(PERSON)).body;
    expect((await decide('lookup', near.user_code, cookie)).body).toMatchObject({ is_same_address: true });
    expect((await decide('approve', body.user_code, cookie)).body).toMatchObject({ state: 'approved' });
    const token = await poll(body.device_code);
    expect(token.body).toMatchObject({ username: 'admin', token_type: 'N_A' });
    const headers = { 'authentication-token': token.body.access_token };
    expect((await world.call('GET', `/tokens/${token.body.token_id}`, { headers })).body).toMatchObject({
      username: 'admin',
      description: expect.stringContaining(`device login: baton on laptop, from ${PROGRAM}, `),
    });
  });

  test('a person of a provider comes back to the page, and approves', async () => {
    const { body } = await begin();
    const { cookie, location } = await signInAtProvider();
    expect(location).toBe(`${MANAGER}/ui/-/device`);
    expect((await decide('approve', body.user_code, cookie)).status).toBe(200);
    expect((await poll(body.device_code)).body).toMatchObject({ username: 'alice' });
  });

  test('a page of another site, and somebody without a session, decide nothing', async () => {
    const { body } = await begin();
    const cookie = await signIn();
    for (const what of ['lookup', 'approve', 'deny']) {
      expect((await decide(what, body.user_code, '')).status).toBe(401);
      const attacks: Record<string, string>[] = [
        {},
        { ...MARKER, origin: 'https://evil.example' },
        { ...MARKER, 'sec-fetch-site': 'cross-site' },
      ];
      for (const headers of attacks) {
        const answer = await decide(what, body.user_code, cookie, headers);
        expect([what, headers, answer.body.error_code]).toEqual([what, headers, 'cross_site_request_error']);
      }
      const byPassword = await world.call('POST', `/login/device/${what}`, {
        as: 'admin:admin',
        body: { user_code: body.user_code, is_confirmed: true },
      });
      expect([what, byPassword.status]).toEqual([what, 403]);
    }
    expect((await poll(body.device_code)).body.error_code).toBe('authorization_pending');
  });

  test('who may not make tokens approves none', async () => {
    const { body } = await begin();
    const { cookie } = await signInAtProvider();
    const permission = '/permissions/default/create_token';
    expect((await world.call('DELETE', permission, { as: 'admin:admin' })).status).toBe(204);
    try {
      const refused = async () => (await decide('approve', body.user_code, cookie)).status === 403;
      await eventually(refused, { deadlineMs: 10_000 });
      expect((await poll(body.device_code)).body.error_code).toBe('authorization_pending');
      // Everybody may refuse.
      expect((await decide('deny', body.user_code, cookie)).status).toBe(200);
    } finally {
      await world.call('PUT', permission, { as: 'admin:admin' });
    }
  });

  test('the short address leads to the page of the console, whatever stands behind it', async () => {
    const { hostname, port } = new URL(world.gateways[0]!);
    const ask = (path: string) =>
      new Promise<[number, string | undefined]>((resolve, reject) => {
        request({ hostname, port, path }, (response) => {
          response.resume();
          resolve([response.statusCode!, response.headers.location]);
        })
          .on('error', reject)
          .end();
      });
    for (const path of ['/device', '/device?return_to=https://evil.example', '/device?user_code=BCDF-GHJK'])
      expect(await ask(path)).toEqual([303, '/ui/-/device']);
    expect((await ask('/device/x'))[0]).toBe(404);
    expect((await ask('//evil.example/device'))[0]).toBe(404);
  });
});
