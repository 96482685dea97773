/** Sign-in with the accounts of a real directory. */
import { type DirectoryRig, dnOf, groupDn, staff, startDirectoryRig } from './testing/directory-rig';
import { GROUPS, group, person, READER_PASSWORD } from './testing/test-slapd';

/** The most that are read, and ten times what the directory returns at once. */
const MANY = 5_000;
const GUID = Buffer.from('00112233445566778899aabbccddeeff', 'hex');
const crowd = Array.from({ length: 5_000 }, (_, at) => dnOf(`member${at}`));

let rig: DirectoryRig;
beforeAll(async () => {
  rig = await startDirectoryRig([
    ...staff,
    person('admin'),
    person('local'),
    person('carol'),
    person('many'),
    person('guid', { objectGUID: GUID }),
    person('circle'),
    group('ring', [groupDn('around'), dnOf('circle')]),
    group('around', [groupDn('ring')]),
    ...Array.from({ length: MANY }, (_, at) => group(`many${at}`, [dnOf('many')])),
    group('crowd', [...crowd, dnOf('carol')]),
  ]);
  await rig.put('corp');
  await rig.identity.call('PUT', '/users', { username: 'local', password: 'of_baton' });
});
afterAll(() => rig.stop());

const sql = async (text: string, values: unknown[] = []) =>
  (await rig.identity.db.pool.query(text, values)).rows;
const access = async (username: string) => (await rig.identity.call('GET', `/users/${username}/access`)).body;
const groupsOf = async (username: string): Promise<string[]> => (await access(username)).provider_groups;

test('a session, Basic authentication and a token take name and password of the directory', async () => {
  const session = await rig.signIn('alice');
  expect(await rig.whoIs(session, 'default_tenant')).toMatchObject({
    username: 'alice',
    role: 'default',
    roles: ['default', 'operations'],
  });
  const alice = await rig.basic('ALICE', 'alice_pw', 'default_tenant');
  expect(alice).toMatchObject({
    username: 'alice',
    authMethod: 'http_basic',
    roles: ['default', 'operations'],
  });
  const made = await rig.identity.call('POST', '/tokens', {}, alice);
  const { principal } = await rig.identity.rpc.authenticate({ token: made.body.value });
  expect([made.status, principal!.username]).toEqual([200, 'alice']);
  const obtained = await rig.identity.call('GET', '/tokens', undefined, alice);
  expect(obtained.body.value).toMatch(/^ctok-/);
});

test('a wrong password is refused, and the user of the directory has none in Baton', async () => {
  await rig.basic('alice');
  expect(await rig.isRefused('alice', 'wrong_pw')).toBe(true);
  const [row] = await sql(`select password_hash, failed_logins from users where username = 'alice'`);
  expect(row).toEqual({ password_hash: expect.stringMatching(/^\$argon2id/), failed_logins: 0 });
  const dump = JSON.stringify(
    await sql('select u::text, pu::text as p from users u left join provider_users pu on pu.user_id = u.id'),
  );
  expect(dump).not.toContain('alice_pw');
  const changed = await rig.identity.call('POST', '/users/alice', { password: 'another_pw' });
  expect([changed.status, changed.body.error_code]).toEqual([400, 'illegal_action_error']);
});

test('groups in groups give their roles, and a circle of groups ends', async () => {
  expect(await rig.basic('bob')).toMatchObject({ role: 'sys_admin' });
  expect(await groupsOf('bob')).toEqual(['admins', 'leads']);
  expect((await access('bob')).system_roles).toContainEqual({
    role: 'sys_admin',
    from: [{ kind: 'provider', name: 'corp', groups: ['admins'] }],
  });
  await rig.basic('circle');
  expect(await groupsOf('circle')).toEqual(['around', 'ring']);
});

test('without nested groups only the groups of the user itself count', async () => {
  await rig.put('flat', { nested_groups: false, user_filter: '(&(uid={username})(uid=bob2))' });
  await rig.slapd.change((client) => client.add(dnOf('bob2'), attributesOf(person('bob2'))));
  await rig.slapd.replace(groupDn('leads'), 'member', [dnOf('bob'), dnOf('bob2')]);
  await rig.identity.call('PATCH', '/identity-providers/corp', {
    user_filter: '(&(objectClass=inetOrgPerson)(uid={username})(!(uid=bob2)))',
  });
  expect(await rig.basic('bob2')).toMatchObject({ role: 'default' });
  expect(await groupsOf('bob2')).toEqual(['leads']);
});

const attributesOf = ({ dn: _dn, ...attributes }: ReturnType<typeof person>) =>
  attributes as Record<string, string[] | string>;

test('more groups than a search of the directory returns at once are all read', async () => {
  await rig.basic('many');
  expect(await groupsOf('many')).toHaveLength(MANY);
  // The limit is in force: a search that is not paged fails.
  const bare = rig.slapd.change(async (client) => {
    await client.bind(rig.settings().bind_dn as string, READER_PASSWORD);
    return client.search(GROUPS, { filter: `(member=${dnOf('many')})` });
  });
  await expect(bare).rejects.toThrow();
  // With one more group nobody knows which is missing.
  await rig.slapd.change((client) =>
    client.add(groupDn('more'), attributesOf(group('more', [dnOf('many')]))),
  );
  expect(await rig.isRefused('many')).toBe(true);
  expect(rig.logged.join('\n')).toContain('more than 5000 groups');
});

test('a group with 5,000 members is one of its members, too', async () => {
  await rig.basic('carol');
  expect(await groupsOf('carol')).toEqual(['crowd']);
});

test('names of groups may be whole names of entries, so that no other branch has one of the same name', async () => {
  await rig.identity.call('PATCH', '/identity-providers/corp', {
    group_name_attribute: 'dn',
    mapping: [{ group: groupDn('dev'), role: 'sys_admin' }],
  });
  await rig.slapd.replace(dnOf('alice'), 'userPassword', ['alice_new']);
  expect(await rig.basic('alice', 'alice_new')).toMatchObject({ role: 'sys_admin' });
  await rig.slapd.replace(dnOf('alice'), 'userPassword', ['alice_pw']);
  await rig.put('corp');
});

test('a local user is checked at Baton alone, also when the directory has the name', async () => {
  expect((await rig.basic('local', 'of_baton')).username).toBe('local');
  expect(await rig.isRefused('local', 'local_pw')).toBe(true);
  expect(await rig.isRefused('admin', 'admin_pw')).toBe(true);
  const kinds = await sql(`select u.username from provider_users pu join users u on u.id = pu.user_id
    where u.username in ('local', 'admin')`);
  expect(kinds).toEqual([]);
  expect(rig.slapd.log.join('\n')).not.toMatch(/BIND dn="uid=(local|admin),/);
});

test('a user belongs to the entry and not to its name: who gets the name is somebody else', async () => {
  await rig.slapd.change(async (client) => {
    await client.add(dnOf('dora'), attributesOf(person('dora')));
  });
  await rig.basic('dora');
  await rig.slapd.change(async (client) => {
    await client.modifyDN(dnOf('dora'), 'uid=dora2');
    await client.add(dnOf('dora'), attributesOf(person('dora', { userPassword: 'of_the_new_one' })));
  });
  expect(await rig.isRefused('dora', 'of_the_new_one')).toBe(true);
  // Under the name that she has in Baton the first one goes on, whatever the directory calls her.
  await rig.slapd.replace(dnOf('dora2'), 'userPassword', ['dora_new']);
  expect((await rig.basic('dora', 'dora_new')).username).toBe('dora');
  expect(await rig.isRefused('dora2', 'dora_new')).toBe(true);
  expect((await rig.usernames()).filter((name) => name.startsWith('dora'))).toEqual(['dora']);
});

test('one person at two providers is not merged', async () => {
  const [{ user_id: before }] =
    (await sql(`select user_id from provider_users pu join users u on u.id = pu.user_id
    where u.username = 'alice'`)) as [{ user_id: number }];
  await rig.put('second', { user_filter: '(&(objectClass=inetOrgPerson)(uid={username})(uid=alice))' });
  await rig.identity.call('PATCH', '/identity-providers/corp', { is_enabled: false });
  expect(await rig.isRefused('alice')).toBe(true);
  await rig.identity.call('PATCH', '/identity-providers/corp', { is_enabled: true });
  expect((await rig.basic('alice')).userId).toBe(before);
  expect((await access('alice')).provider).toBe('corp');
  await rig.identity.call('DELETE', '/identity-providers/second');
});

test('a provider that takes only users made before takes these, by their identity', async () => {
  const over = {
    provision: 'preexisting',
    subject_attribute: 'objectGUID',
    user_filter: '(&(objectClass=inetOrgPerson)(uid={username})(uid=guid))',
  };
  await rig.put('strict', over);
  await rig.identity.call('PATCH', '/identity-providers/corp', { provision: 'preexisting' });
  expect(await rig.isRefused('guid')).toBe(true);
  const made = await rig.identity.call('POST', '/identity-providers/strict/users', {
    username: 'guid',
    subject: '33221100-5544-7766-8899-aabbccddeeff',
  });
  expect(made.status).toBe(201);
  expect((await rig.basic('guid')).username).toBe('guid');
  expect(await rig.isRefused('guid', 'wrong')).toBe(true);
  await rig.identity.call('PATCH', '/identity-providers/corp', { provision: 'jit' });
});

test('the page of the sign-in learns the name of the directory, and nothing else', async () => {
  await rig.put('corp', { name: 'Our company' });
  const { body } = await rig.identity.call('GET', '/login/providers');
  expect(body.items).toContainEqual({ id: 'corp', name: 'Our company', type: 'ldap' });
  expect((await rig.identity.call('GET', '/login/oidc/corp')).status).toBe(404);
});

test('a good password binds once in a minute, and a changed one is asked for at once', async () => {
  await rig.basic('carol');
  const binds = () =>
    rig.slapd.log.filter((line) => line.includes(`BIND dn="${dnOf('carol')}" method`)).length;
  const before = binds();
  for (let at = 0; at < 3; at++) await rig.basic('carol');
  await Promise.all(Array.from({ length: 5 }, () => rig.basic('carol')));
  expect(binds()).toBe(before);
  expect(await rig.isRefused('carol', 'carol_pw2')).toBe(true);
  expect(binds()).toBe(before + 1);
});
