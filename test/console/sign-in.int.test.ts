/** The sign-in where the organisation has a directory and a provider of OpenID Connect. */
import type { Browser } from 'playwright-core';
import { dnOf } from '../../services/identity/src/providers/testing/directory-rig';
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
import { type Fleet, startFleet } from '../harness/fleet';
import { adminClient, call } from '../harness/session';
import { launch, openPage, signIn, type WatchedPage } from './browser';
import { judge } from './judge';

jest.setTimeout(240_000);
let fleet: Fleet;
let slapd: TestSlapd;
let browser: Browser;
let watched: WatchedPage;

beforeAll(async () => {
  slapd = await startTestSlapd([person('alice'), group('dev', [dnOf('alice')])]);
  fleet = await startFleet({ mode: 'standalone', env: { BATON_LOGIN_PROVIDER_ALLOW: '127.0.0.1' } });
  browser = await launch();
  watched = await openPage(browser, fleet.baseUrl);
}, 240_000);
afterAll(async () => {
  await browser?.close();
  await fleet?.stop();
  await slapd?.stop();
}, 120_000);
afterEach(() => expect(watched.offences.splice(0)).toEqual([]));

test('the form says whose account it takes, and takes it', async () => {
  const client = adminClient(fleet);
  const mapping = [{ group: 'dev', tenants: [{ name: 'default_tenant', role: 'viewer' }] }];
  await call(
    client,
    'putIdentityProvider',
    { provider_id: 'corp' },
    {
      type: 'ldap',
      name: 'Our company',
      urls: [slapd.ldaps],
      bind_dn: READER,
      bind_password: READER_PASSWORD,
      user_base: PEOPLE,
      group_base: GROUPS,
      ca_certificate: slapd.ca,
      mapping,
    },
  );
  await call(
    client,
    'putIdentityProvider',
    { provider_id: 'partner' },
    { type: 'oidc', name: 'Partner', issuer: 'https://idp.example', client_id: 'baton' },
  );
  const { page } = watched;
  await page.goto(`${fleet.baseUrl}/ui/default_tenant/deployments`);
  await page.getByText('Use your account of Baton or your account of Our company.').waitFor();
  await page.getByRole('link', { name: 'Sign in with Partner' }).waitFor();
  expect(await page.getByRole('link', { name: /Our company/ }).count()).toBe(0);
  await judge(page, 'sign-in-directory');
  await signIn(page, 'alice', 'a wrong password');
  await page.getByText('User name or password is wrong, or Our company does not answer.').waitFor();
  await judge(page, 'sign-in-directory-refused');
  await signIn(page, 'alice', 'alice_pw');
  await page.getByRole('navigation', { name: 'Main' }).waitFor();
});
