/** Settings of providers of type ldap, and their test. */
import { freePort } from '@baton/testkit';
import { type DirectoryRig, staff, startDirectoryRig } from './testing/directory-rig';
import { GROUPS, PEOPLE, READER, SUFFIX } from './testing/test-slapd';

let rig: DirectoryRig;
beforeAll(async () => {
  rig = await startDirectoryRig(staff);
});
afterAll(() => rig.stop());

const put = (id: string, over: object) =>
  rig.identity.call('PUT', `/identity-providers/${id}`, { ...rig.settings(), ...over });
const patch = (id: string, body: object) => rig.identity.call('PATCH', `/identity-providers/${id}`, body);
const tested = async (over: object) => {
  await put('tried', over);
  return (await rig.identity.call('POST', '/identity-providers/tried/test', {})).body;
};

test('an administrator makes a directory; what is not given has its default, and the password stays', async () => {
  const made = await put('corp', { name: 'Our company' });
  expect([made.status, made.body]).toEqual([
    200,
    {
      id: 'corp',
      type: 'ldap',
      name: 'Our company',
      urls: [rig.slapd.ldaps],
      bind_dn: READER,
      has_bind_password: true,
      user_base: PEOPLE,
      user_filter: '(&(objectClass=inetOrgPerson)(uid={username}))',
      username_attribute: 'uid',
      subject_attribute: 'entryUUID',
      group_base: GROUPS,
      group_filter: '(|(member={dn})(uniqueMember={dn}))',
      group_name_attribute: 'cn',
      nested_groups: true,
      mapping: rig.settings().mapping,
      provision: 'jit',
      ca_certificate: rig.slapd.ca,
      is_enabled: true,
      users: 0,
      created_at: expect.stringMatching(/Z$/),
    },
  ]);
  const again = await put('corp', { bind_password: undefined });
  expect(again.body).toMatchObject({ has_bind_password: true, name: 'corp' });
  expect((await rig.basic('alice')).username).toBe('alice');
  const patched = await patch('corp', { group_base: null, nested_groups: false });
  expect(patched.body).toMatchObject({ group_base: null, nested_groups: false, users: 1, user_base: PEOPLE });
  await put('corp', {});
});

test.each<[object, string]>([
  [{ urls: undefined }, 'urls'],
  [{ urls: [] }, 'urls'],
  [{ urls: ['ldaps://a.example', 'http://b.example'] }, 'urls.1'],
  [{ urls: ['ldaps://user:pw@a.example'] }, 'urls.0'],
  [{ bind_dn: undefined }, 'bind_dn'],
  [{ bind_dn: '' }, 'bind_dn'],
  [{ bind_dn: 'PLAIN' }, 'bind_dn'],
  [{ bind_password: '' }, 'bind_password'],
  [{ user_base: undefined }, 'user_base'],
  [{ user_filter: '(uid=alice)' }, 'user_filter'],
  [{ user_filter: '(uid={username}*)' }, 'user_filter'],
  [{ user_filter: '(uid={username}' }, 'user_filter'],
  [{ group_filter: '(member={user})' }, 'group_filter'],
  [{ username_attribute: 'uid)(a=*' }, 'username_attribute'],
  [{ ca_certificate: 'no pem' }, 'ca_certificate'],
  [{ issuer: 'https://idp.example' }, 'issuer'],
  [{ claims: {} }, 'claims'],
  [{ mapping: [{ group: 'g', tenants: [{ name: 'nosuch', role: 'user' }] }] }, 'mapping.0.tenants.0.name'],
])('settings %j are refused at %p', async (over, field) => {
  const { status, body } = await put('wrong', over);
  expect([status, body.error_code]).toEqual([400, 'bad_parameters_error']);
  expect(JSON.stringify(body)).toContain(field);
});

test('settings of a directory are none of OpenID Connect', async () => {
  const { status, body } = await rig.identity.call('PUT', '/identity-providers/op', {
    type: 'oidc',
    issuer: 'https://idp.example',
    client_id: 'baton',
    user_base: PEOPLE,
  });
  expect([status, body.message]).toEqual([400, '`user_base` is no setting of a provider of type oidc']);
});

test('a provider with users keeps its type and its subjects', async () => {
  await rig.basic('alice');
  const subjects = await patch('corp', { subject_attribute: 'uid' });
  expect([subjects.status, subjects.body.error_code]).toEqual([400, 'illegal_action_error']);
  expect((await patch('corp', { subject_attribute: 'entryuuid' })).status).toBe(200);
  const type = await rig.identity.call('PUT', '/identity-providers/corp', {
    type: 'oidc',
    issuer: 'https://idp.example',
    client_id: 'baton',
  });
  expect([type.status, type.body.error_code]).toEqual([400, 'illegal_action_error']);
  const gone = await rig.identity.call('DELETE', '/identity-providers/corp');
  expect([gone.status, gone.body.error_code]).toEqual([400, 'dependent_exists_error']);
});

test('a secret of one type is none of the other', async () => {
  const oidc = { type: 'oidc', issuer: 'https://idp.example', client_id: 'baton', client_secret: 'x' };
  await rig.identity.call('PUT', '/identity-providers/turned', oidc);
  const { body } = await put('turned', { bind_password: undefined });
  expect(body).toMatchObject({ type: 'ldap', has_bind_password: false });
  expect((await rig.identity.call('POST', '/identity-providers/turned/test', {})).body).toMatchObject({
    ok: false,
    step: 'bind',
  });
  expect((await rig.identity.call('DELETE', '/identity-providers/turned')).status).toBe(204);
});

test('the test of a directory tells in one sentence what is wrong', async () => {
  const dead = `ldaps://127.0.0.1:${await freePort()}`;
  expect(await tested({})).toEqual({
    ok: true,
    step: 'done',
    message: `${rig.slapd.ldaps} answers. Below user_base it has 2 users, below group_base 3 groups.`,
    warnings: [],
  });
  expect(await tested({ urls: [rig.slapd.ldap] })).toMatchObject({ ok: true });
  expect(await tested({ urls: [dead, rig.slapd.ldaps] })).toMatchObject({
    ok: true,
    warnings: [`${dead} cannot be used: the connection was refused: nothing listens there.`],
  });
  expect(await tested({ urls: [dead] })).toMatchObject({ ok: false, step: 'connection' });
  expect(await tested({ bind_password: 'wrong' })).toMatchObject({
    ok: false,
    step: 'bind',
    message: `${rig.slapd.ldaps} cannot be used: the directory refuses bind_dn with bind_password.`,
  });
  expect(await tested({ user_base: `ou=nosuch,${SUFFIX}` })).toMatchObject({ ok: false, step: 'users' });
  expect(await tested({ group_base: `ou=nosuch,${SUFFIX}` })).toMatchObject({ ok: false, step: 'groups' });
  const odd = await tested({ username_attribute: 'mail', subject_attribute: 'title', group_base: null });
  expect(odd.warnings.join(' ')).toMatch(/title.*mail.*group_base/s);
  expect((await tested({ user_filter: '(&(uid={username})(title=x))' })).warnings).toEqual([
    'user_filter finds nobody below user_base.',
  ]);
});
