/** Identity beside a real directory, and people who sign in there. */
import type { Principal } from '@baton/contracts';
import type { Log } from '@baton/kernel';
import { startTestIdentity, type TestAnswer, type TestIdentity } from '../../testing-identity';
import { sessionIn } from './login-rig';
import {
  type Entry,
  GROUPS,
  group,
  PEOPLE,
  person,
  READER,
  READER_PASSWORD,
  startTestSlapd,
  type TestSlapd,
} from './test-slapd';

export const dnOf = (uid: string): string => `uid=${uid},${PEOPLE}`;
export const groupDn = (cn: string): string => `cn=${cn},${GROUPS}`;

export interface DirectoryRig {
  identity: TestIdentity;
  slapd: TestSlapd;
  /** What identity has logged: fields and message of each line as JSON. */
  logged: string[];
  settings(over?: Record<string, unknown>): Record<string, unknown>;
  put(id: string, over?: Record<string, unknown>): Promise<void>;
  basic(username: string, password?: string, tenant?: string): Promise<Principal>;
  /** Whether a sign-in with Basic authentication is refused as one with a wrong password is. */
  isRefused(username: string, password?: string): Promise<boolean>;
  /** Signs in as the console does; returns the session. */
  signIn(username: string, password?: string): Promise<string>;
  whoIs(session: string, tenant?: string): Promise<Principal>;
  usernames(): Promise<string[]>;
  stop(): Promise<void>;
}

/** alice is in `dev`, bob in `leads`, which is in `admins`. */
export const staff: Entry[] = [
  person('alice'),
  person('bob'),
  group('dev', [dnOf('alice')]),
  group('leads', [dnOf('bob')]),
  group('admins', [groupDn('leads')]),
];

export async function startDirectoryRig(
  entries: readonly Entry[] = staff,
  env: Record<string, string> = {},
): Promise<DirectoryRig> {
  const slapd = await startTestSlapd(entries);
  const logged: string[] = [];
  const identity = await startTestIdentity(
    { BATON_LOGIN_PROVIDER_ALLOW: '127.0.0.1', ...env },
    keptLog(logged),
  );
  const settings = (over: Record<string, unknown> = {}) => ({
    type: 'ldap',
    urls: [slapd.ldaps],
    bind_dn: READER,
    bind_password: READER_PASSWORD,
    user_base: PEOPLE,
    group_base: GROUPS,
    ca_certificate: slapd.ca,
    mapping: [
      { group: 'admins', role: 'sys_admin' },
      { group: 'dev', tenants: [{ name: 'default_tenant', role: 'operations' }] },
    ],
    ...over,
  });
  const basic = (username: string, password = `${username}_pw`, tenant = '') =>
    identity.principal(username, password, tenant);
  return {
    identity,
    slapd,
    logged,
    settings,
    put: async (id, over) => {
      const answer = await identity.call('PUT', `/identity-providers/${id}`, settings(over));
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
    },
    basic,
    isRefused: (username, password) =>
      basic(username, password).then(
        () => false,
        (error: Error) => {
          if (error.message !== 'User unauthorized: Wrong credentials or locked account') throw error;
          return true;
        },
      ),
    signIn: async (username, password = `${username}_pw`) => {
      const as = await basic(username, password);
      const headers = (await openSession(identity, { username, password }, as)).headers;
      return sessionIn([headers.get('set-cookie')!.replace(/^baton_session/, '__Host-baton_session')]);
    },
    whoIs: async (session, tenant = '') =>
      (await identity.rpc.authenticate({ session, tenant })).principal as Principal,
    usernames: async () =>
      (await identity.call('GET', '/users')).body.items.map(({ username }: { username: string }) => username),
    stop: async () => {
      await identity.stop();
      await slapd.stop();
    },
  };
}

function keptLog(lines: string[]): Log {
  const keep = (fields: object, message: string): void => {
    const plain = Object.entries(fields).map(([name, value]) => [
      name,
      value instanceof Error ? String(value.stack) : value,
    ]);
    lines.push(JSON.stringify([Object.fromEntries(plain), message]));
  };
  const log: Log = { debug: keep, info: keep, warn: keep, error: keep, child: () => log };
  return log;
}

const openSession = (
  identity: TestIdentity,
  body: { username: string; password: string },
  as: Principal,
): Promise<TestAnswer> => identity.call('POST', '/session', body, as);
