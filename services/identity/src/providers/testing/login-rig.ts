/** Identity beside a real OpenID provider, and people who sign in there. */
import type { Principal } from '@baton/contracts';
import { startTestIdentity, type TestIdentity } from '../../testing-identity';
import { MANAGER, type TestBrowser, testBrowser } from './test-browser';
import { startTestOp, type TestOp } from './test-op';

export const callbackOf = (provider: string): string => `${MANAGER}/api/v3.1/login/oidc/${provider}/callback`;
export const beginOf = (provider: string): string => `${MANAGER}/api/v3.1/login/oidc/${provider}`;

export interface LoginRig {
  identity: TestIdentity;
  op: TestOp;
  browser(): TestBrowser;
  /** Settings of the provider of these tests. */
  settings(over?: Record<string, unknown>): Record<string, unknown>;
  put(id: string, over?: Record<string, unknown>): Promise<void>;
  /** Signs in by a browser of its own; returns where the callback led and the session, empty without one. */
  signIn(
    subject: string,
    provider?: string,
    returnTo?: string,
  ): Promise<{ location: string; session: string }>;
  /** Goes to the provider and back, up to the callback, which is not visited. */
  untilCallback(browser: TestBrowser, subject: string, provider?: string, returnTo?: string): Promise<string>;
  whoIs(session: string, tenant?: string): Promise<Principal>;
  stop(): Promise<void>;
}

export const sessionIn = (cookies: readonly string[]): string =>
  cookies.map((line) => /^__Host-baton_session=(bses-[^;]+)/.exec(line)?.[1]).find((one) => one) ?? '';

export async function startLoginRig(env: Record<string, string> = {}): Promise<LoginRig> {
  const identity = await startTestIdentity({ BATON_LOGIN_PROVIDER_ALLOW: '127.0.0.1', ...env });
  const op = await startTestOp([callbackOf('corp'), callbackOf('second')]);
  op.people.set('u-1', { preferred_username: 'alice', groups: ['dev'], email: 'alice@example.org' });
  op.people.set('u-2', { preferred_username: 'bob', groups: ['admins'] });
  const browser = () => testBrowser(identity.origin, op.ca);
  const settings = (over: Record<string, unknown> = {}) => ({
    type: 'oidc',
    issuer: op.issuer,
    client_id: op.clientId,
    client_secret: op.clientSecret,
    ca_certificate: op.ca,
    scopes: ['openid', 'profile', 'groups', 'offline_access'],
    mapping: [
      { group: 'admins', role: 'sys_admin' },
      { group: 'dev', tenants: [{ name: 'default_tenant', role: 'operations' }] },
    ],
    ...over,
  });
  const untilCallback: LoginRig['untilCallback'] = (by, subject, provider = 'corp', returnTo = '') => {
    op.signsIn = subject;
    const begin = `${beginOf(provider)}${returnTo === '' ? '' : `?return_to=${encodeURIComponent(returnTo)}`}`;
    return by.follow(begin, (url) => url.startsWith(callbackOf(provider)));
  };
  return {
    identity,
    op,
    browser,
    settings,
    put: async (id, over) => {
      const answer = await identity.call('PUT', `/identity-providers/${id}`, settings(over));
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
    untilCallback,
    signIn: async (subject, provider, returnTo) => {
      const by = browser();
      const { location, cookies } = await by.visit(await untilCallback(by, subject, provider, returnTo));
      return { location, session: sessionIn(cookies) };
    },
    whoIs: async (session, tenant = '') =>
      (await identity.rpc.authenticate({ session, tenant })).principal as Principal,
    stop: async () => {
      await identity.stop();
      await op.stop();
    },
  };
}
