import { dnOf, groupDn } from '../../services/identity/src/providers/testing/directory-rig';
import {
  GROUPS,
  group,
  PEOPLE,
  person,
  READER,
  READER_PASSWORD,
  startTestSlapd,
  type TestSlapd,
} from '../../services/identity/src/providers/testing/test-slapd';
import { startWorld, type World } from '../gateway/world';

/**
 * S7: name and password of a real directory through the gateway, between processes and within one. The attacks are in
 * services/identity/src/providers/ldap-attacks.int.test.ts.
 */

describe.each(['services', 'one process'])('%s', (kind) => {
  let world: World;
  let slapd: TestSlapd;
  beforeAll(async () => {
    slapd = await startTestSlapd([person('alice'), person('bob'), group('dev', [dnOf('alice')])]);
    world = await startWorld({
      isLocal: kind === 'one process',
      allRoutes: true,
      env: { BATON_LOGIN_PROVIDER_ALLOW: '127.0.0.1', BATON_LOGIN_FREE_FAILURES: '4' },
    });
    const made = await world.call('PUT', '/identity-providers/corp', {
      as: 'admin:admin',
      body: {
        type: 'ldap',
        urls: [slapd.ldaps],
        bind_dn: READER,
        bind_password: READER_PASSWORD,
        user_base: PEOPLE,
        group_base: GROUPS,
        ca_certificate: slapd.ca,
        mapping: [{ group: 'dev', tenants: [{ name: 'default_tenant', role: 'user' }] }],
      },
    });
    expect(made.status).toBe(200);
  });
  afterAll(async () => {
    await world.stop();
    await slapd.stop();
  });

  const signIn = (username: string, password: string) =>
    world.call('POST', '/session', {
      body: { username, password },
      headers: { 'sec-fetch-site': 'same-origin' },
    });
  const who = {
    username: 'alice',
    is_admin: false,
    tenants: [{ name: 'default_tenant', roles: ['default', 'user'] }],
  };

  test('the form of the console opens a session, whatever letters the name is typed in', async () => {
    for (const username of ['alice', 'Alice']) {
      const opened = await signIn(username, 'alice_pw');
      expect([opened.status, opened.body]).toEqual([200, expect.objectContaining(who)]);
      const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
      expect((await world.call('GET', '/session', { headers: { cookie } })).body).toMatchObject(who);
    }
  });

  const permissions = async (): Promise<string[]> => {
    const asked = { as: 'alice:alice_pw', tenant: 'default_tenant' };
    return (await world.call('GET', '/user/permissions', asked)).body.permissions;
  };

  test('old clients send name and password with each request, or get a token by them', async () => {
    expect(await permissions()).toContain('deployment_list');
    const token = (await world.call('GET', '/tokens', { as: 'alice:alice_pw' })).body.value;
    const headers = { 'authentication-token': token };
    expect((await world.call('GET', '/user', { headers })).body.username).toBe('alice');
  });

  test('failed sign-ins slow down the guesser, for a user of the directory as for nobody', async () => {
    for (const username of ['bob', 'nosuch']) {
      const statuses: number[] = [];
      for (let at = 0; at < 7; at++) statuses.push((await signIn(username, `guess${at}`)).status);
      expect([username, statuses.slice(0, 4)]).toEqual([username, [401, 401, 401, 401]]);
      expect([username, statuses]).toEqual([username, expect.arrayContaining([429])]);
    }
    expect((await signIn('alice', 'alice_pw')).status).toBe(200);
  });

  test('the refusal of a wrong password is that of an unknown name', async () => {
    const [wrong, unknown] = [await signIn('alice', 'wrong_pw'), await signIn('nobody', 'wrong_pw')];
    expect([wrong.status, wrong.body]).toEqual([unknown.status, unknown.body]);
  });

  test('a group that was taken is gone for the client with Basic authentication, too', async () => {
    await slapd.replace(groupDn('dev'), 'member', [dnOf('bob')]);
    await world.call('PATCH', '/identity-providers/corp', {
      as: 'admin:admin',
      body: { name: 'checks anew' },
    });
    expect(await permissions()).not.toContain('deployment_list');
  });

  test('the original route for LDAP stays closed', async () => {
    for (const method of ['PUT', 'POST'])
      expect((await world.call(method, '/ldap', { as: 'admin:admin', body: {} })).status).toBe(405);
  });
});
