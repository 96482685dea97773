import { callbackOf, sessionIn } from '../../services/identity/src/providers/testing/login-rig';
import { MANAGER, testBrowser } from '../../services/identity/src/providers/testing/test-browser';
import { startTestOp, type TestOp } from '../../services/identity/src/providers/testing/test-op';
import { startWorld, type World } from '../gateway/world';

/**
 * S7: a sign-in at a real OpenID provider through the gateway, between processes and within one. The attacks on tokens and states are in
 * services/identity/src/providers/oidc-attacks.int.test.ts.
 */

/** Headers of a trusted proxy, and headers of the gateway, which nobody outside may set. */
const OUTSIDE = {
  'x-forwarded-proto': 'https',
  'x-forwarded-host': 'manager.example',
  'x-baton-origin': 'https://evil.example',
};

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
    const answer = await world.call('PUT', '/identity-providers/corp', {
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
    expect(answer.status).toBe(200);
  });
  afterAll(async () => {
    await world.stop();
    await op.stop();
  });

  const browser = () => testBrowser(world.gateways[0]!, op.ca, OUTSIDE);
  const begin = `${MANAGER}/api/v3.1/login/oidc/corp`;

  test('the browser ends with the session cookie of the console, and nothing else of the sign-in', async () => {
    op.signsIn = 'u-1';
    const by = browser();
    const callback = await by.follow(`${begin}?return_to=/ui/x`, (url) => url.startsWith(callbackOf('corp')));
    const { status, location, cookies } = await by.visit(callback);
    expect([status, location]).toEqual([303, `${MANAGER}/ui/x`]);
    expect(cookies).toEqual([
      expect.stringMatching(
        /^__Host-baton_session=bses-\w+-\w+; Path=\/; Secure; HttpOnly; SameSite=Strict$/,
      ),
      expect.stringMatching(/^__Host-baton_login=; .*Max-Age=0$/),
    ]);
    const cookie = `__Host-baton_session=${sessionIn(cookies)}`;
    const session = await world.call('GET', '/session', { headers: { ...OUTSIDE, cookie } });
    expect(session.body).toMatchObject({
      username: 'alice',
      is_admin: false,
      tenants: [{ name: 'default_tenant', roles: ['default', 'user'] }],
    });
  });

  test('the callback is that of the address which the browser asked for, whatever other headers say', async () => {
    const { location } = await browser().visit(begin);
    expect(new URL(location).searchParams.get('redirect_uri')).toBe(callbackOf('corp'));
  });

  test('providers are listed for everybody, and are managed by administrators', async () => {
    const open = await world.call('GET', '/login/providers');
    expect(open.body).toEqual({ items: [{ id: 'corp', name: 'corp', type: 'oidc' }] });
    expect((await world.call('GET', '/identity-providers')).status).toBe(401);
  });
});
