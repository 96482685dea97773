/** Roles and sessions of users follow their directory, and survive its absence. */
import { systemClock } from '@baton/kernel';
import { setFakeNow } from '@baton/testkit';
import { type DirectoryRig, dnOf, groupDn, staff, startDirectoryRig } from './testing/directory-rig';
import { person } from './testing/test-slapd';

const MINUTE_MS = 60_000;
/** One for each test: a good password is remembered for a minute, in which its groups are not asked for again. */
const others = ['erin', 'finn', 'gwen', 'hugo', 'ines', 'jack', 'kim'];

let rig: DirectoryRig;
beforeAll(async () => {
  rig = await startDirectoryRig([...staff, ...others.map((uid) => person(uid, { title: 'staff' }))]);
  await rig.put('corp', { user_filter: '(&(objectClass=inetOrgPerson)(uid={username})(!(title=former)))' });
});
afterEach(() => setFakeNow(rig.identity.db.pool, null));
afterAll(() => rig.stop());

const later = (ms: number) =>
  setFakeNow(rig.identity.db.pool, new Date(systemClock.now() + ms).toISOString());
const rolesOf = async (session: string): Promise<string[]> =>
  (await rig.whoIs(session, 'default_tenant')).roles.sort();
const tokenOf = async (session: string): Promise<string> =>
  (await rig.identity.call('POST', '/tokens', {}, await rig.whoIs(session, 'default_tenant'))).body.value;
const byToken = async (token: string): Promise<string[]> =>
  (await rig.identity.rpc.authenticate({ token, tenant: 'default_tenant' })).principal!.roles.sort();
const members = (cn: string, uids: readonly string[]) =>
  rig.slapd.replace(groupDn(cn), 'member', uids.map(dnOf));
const OVER = { code: 'unauthorized_error' };

test('a group that was taken in the directory takes its role at the first use after four minutes', async () => {
  await members('dev', ['alice', 'bob']);
  const session = await rig.signIn('alice');
  const token = await tokenOf(session);
  await members('dev', ['bob']);
  expect(await rolesOf(session)).toEqual(['default', 'operations']);
  await later(4 * MINUTE_MS + 1_000);
  expect(await rolesOf(session)).toEqual(['default']);
  expect(await byToken(token)).toEqual(['default']);
});

test('also where the password is still remembered, and back when the group comes back', async () => {
  await members('dev', ['alice', 'bob']);
  await later(8 * MINUTE_MS + 5_000);
  expect((await rig.basic('alice', 'alice_pw', 'default_tenant')).roles).toContain('operations');
  await members('dev', ['bob']);
  await later(13 * MINUTE_MS);
  expect((await rig.basic('alice', 'alice_pw', 'default_tenant')).roles).toEqual(['default']);
});

test('a group between two others that is taken takes what it led to', async () => {
  const session = await rig.signIn('bob');
  expect(await rolesOf(session)).toContain('sys_admin');
  await rig.slapd.replace(groupDn('admins'), 'member', [dnOf('alice')]);
  await later(4 * MINUTE_MS + 1_000);
  expect(await rolesOf(session)).not.toContain('sys_admin');
});

const leave: [string, string, (uid: string) => Promise<unknown>][] = [
  ['was removed', 'erin', (uid) => rig.slapd.change((client) => client.del(dnOf(uid)))],
  ['was disabled', 'finn', (uid) => rig.slapd.replace(dnOf(uid), 'userAccountControl', ['514'])],
  ['no longer fits user_filter', 'gwen', (uid) => rig.slapd.replace(dnOf(uid), 'title', ['former'])],
];

test.each(leave)(
  'a user who %s loses sessions and roles, and its tokens are worth nothing',
  async (_how, uid, go) => {
    await members('dev', [uid]);
    const session = await rig.signIn(uid);
    const token = await tokenOf(session);
    expect(await byToken(token)).toEqual(['default', 'operations']);
    await go(uid);
    await later(4 * MINUTE_MS + 1_000);
    await expect(rig.whoIs(session)).rejects.toMatchObject(OVER);
    expect(await byToken(token)).toEqual(['default']);
  },
);

test('a new password in the directory ends no session, and the old one signs nobody in once it was used', async () => {
  const session = await rig.signIn('hugo');
  await rig.slapd.replace(dnOf('hugo'), 'userPassword', ['hugo_new']);
  await later(4 * MINUTE_MS + 1_000);
  expect((await rig.whoIs(session)).username).toBe('hugo');
  expect((await rig.basic('hugo', 'hugo_new')).username).toBe('hugo');
  expect(await rig.isRefused('hugo', 'hugo_pw')).toBe(true);
});

test('a user who is renamed in the directory keeps session and name', async () => {
  const session = await rig.signIn('hugo', 'hugo_new');
  await rig.slapd.change((client) => client.modifyDN(dnOf('hugo'), 'uid=hugh'));
  await later(4 * MINUTE_MS + 1_000);
  expect((await rig.whoIs(session)).username).toBe('hugo');
});

test('while the directory is away everything stays, and local users sign in', async () => {
  await members('dev', ['ines']);
  const session = await rig.signIn('ines');
  await rig.put('corp', {
    name: 'other settings forget what was remembered',
    user_filter: '(uid={username})',
  });
  await rig.slapd.pause();
  await later(60 * MINUTE_MS);
  expect(await rolesOf(session)).toEqual(['default', 'operations']);
  expect(await rig.isRefused('ines')).toBe(true);
  expect((await rig.basic('admin', 'admin')).username).toBe('admin');
  await rig.slapd.start();
  await members('dev', ['bob']);
  // Asked again half a minute after the last try.
  await later(60 * MINUTE_MS + 31_000);
  expect(await rolesOf(session)).toEqual(['default']);
  expect((await rig.basic('ines')).username).toBe('ines');
});

test('a directory whose account was locked out keeps everybody as they are', async () => {
  await members('dev', ['jack']);
  const session = await rig.signIn('jack');
  await rig.identity.call('PATCH', '/identity-providers/corp', { bind_password: 'no longer good' });
  await later(4 * MINUTE_MS + 1_000);
  expect(await rolesOf(session)).toEqual(['default', 'operations']);
  await rig.put('corp');
});

test('a disabled provider ends the sessions of its users at their next use', async () => {
  const session = await rig.signIn('kim');
  await rig.identity.call('PATCH', '/identity-providers/corp', { is_enabled: false });
  await expect(rig.whoIs(session)).rejects.toMatchObject(OVER);
  expect(await rig.isRefused('kim')).toBe(true);
  await rig.put('corp');
  expect((await rig.whoIs(await rig.signIn('kim'))).username).toBe('kim');
});
