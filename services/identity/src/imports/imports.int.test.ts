/** Imports of tenants, users, groups and roles into a real database. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAll } from '@baton/cloudify-archive/testing';
import { type ImportRig, importRig } from '@baton/import-part/testing';
import { startTestIdentity, type TestIdentity } from '../testing-identity';

const S71 = join(__dirname, '../../../../packages/cloudify-archive/test-archives/cloudify-7.1-community.zip');
/** Of the password `admin` with the salt below; the old manager's library wrote it. */
const OLD_HASH = '$pbkdf2-sha256$29000$b21tzRkjBECotXZOCYEQYg$pW8EZnW2BDqI.HRy8WUtBMLzB/BOA4Mtee6cuD87MIc';
const SALT = 'Kf0Zl3r5nqYb2hVw';

let identity: TestIdentity;
let rig: ImportRig;

beforeEach(async () => {
  identity = await startTestIdentity();
  rig = importRig(identity.parts.rpc);
});
afterEach(() => identity.stop());

const rows = async (text: string) => (await identity.db.pool.query(text)).rows;
const user = (username: string, more: object = {}) => ({
  username,
  role: 'default',
  password_hash: OLD_HASH,
  password_salt: SALT,
  ...more,
});

test('the archive of a real manager: tenants are made, and its roles are those here', async () => {
  const { records } = await readAll(readFileSync(S71));
  const of = (type: string) => records.flatMap((record) => (record.type === type ? [record.item] : []));
  const staged = [
    ['tenants', '', of('tenants')],
    ['permissions', '', of('permissions')],
  ] as const;
  const { outcome, told } = await rig.run(staged);
  expect(outcome.types).toEqual([
    expect.objectContaining({ type: 'tenants', read: 2, imported: 1, same: 1 }),
    expect.objectContaining({ type: 'permissions', read: 844, same: 844, lost: 0 }),
  ]);
  expect(told).toEqual({});
  expect(outcome.notes).toEqual([]);
  expect(await rows('select name from tenants order by name')).toEqual([
    { name: 'default_tenant' },
    { name: 't2' },
  ]);
  const again = await rig.run(staged);
  expect(again.outcome.types.map(({ same, read }) => same === read)).toEqual([true, true]);
});

test('users come with their rights, and a rehearsal leaves nothing', async () => {
  const staged = [
    ['tenants', '', [{ name: 'a' }, { name: 'b' }, { name: 'c' }]],
    ['user_groups', '', [{ name: 'team', ldap_dn: 'cn=team', role: 'default', tenants: { b: 'viewer' } }]],
    [
      'users',
      '',
      [
        user('admin', { role: 'sys_admin' }),
        user('ann', {
          tenants: { a: 'manager', c: 'user' },
          groups: ['team', 'gone'],
          created_at: '2021-03-04T05:06:07.123Z',
        }),
        user('root', { role: 'sys_admin', is_active: false }),
        user('db_status_reporter', { role: 'db_status_reporter' }),
        user('zoë'),
      ],
    ],
  ] as const;
  const options = { tenants: { a: 'a', b: 'renamed', c: null } };
  const before = await rows('select username, password_hash from users');
  const rehearsed = await rig.rehearse(staged, options);
  expect(await rows('select username, password_hash from users')).toEqual(before);
  const { told, outcome } = await rig.run(staged, options);
  expect(told).toEqual(rehearsed.told);
  expect(told).toEqual({
    'tenants/b': 'imported renamed',
    'tenants/c': 'skipped not_chosen',
    'users/admin': 'same administrator_mapped',
    'users/ann': 'imported roles_dropped',
    'users/root': 'imported is_administrator',
    'users/db_status_reporter': 'skipped status_reporter',
    'users/zoë': 'lost invalid',
  });
  for (const { read, imported, same, skipped, replaced, lost, conflicts } of outcome.types)
    expect(imported + same + skipped + replaced + lost + conflicts).toBe(read);
  expect(
    await rows(
      `select tenant, t.role from tenant_users t join users u on u.id = user_id where username = 'ann'`,
    ),
  ).toEqual([{ tenant: 'a', role: 'manager' }]);
  expect(await rows('select group_name, tenant, role from tenant_groups')).toEqual([
    { group_name: 'team', tenant: 'renamed', role: 'viewer' },
  ]);
  const again = await rig.run(staged, options);
  expect(
    again.outcome.types.map(({ imported, replaced, lost, conflicts }) => [
      imported,
      replaced,
      lost,
      conflicts,
    ]),
  ).toEqual([
    [0, 0, 0, 0],
    [0, 0, 0, 0],
    [0, 0, 1, 0],
  ]);
});

test('an imported password works, and is replaced by a hash of our own at the first login', async () => {
  await rig.run([['users', '', [user('ann'), user('bob', { password_salt: null })]]]);
  const hashOf = async () =>
    (await rows(`select password_hash from users where username = 'ann'`))[0].password_hash;
  const stored = await hashOf();
  expect(stored).toMatch(/^\$pbkdf2-sha256\$29000\$/);
  expect(stored).not.toContain(SALT);
  await expect(identity.principal('ann', 'wrong')).rejects.toMatchObject({ code: 'unauthorized_error' });
  expect(await hashOf()).toBe(stored);
  expect((await identity.principal('ann', 'admin')).username).toBe('ann');
  expect(await hashOf()).toMatch(/^\$argon2id\$/);
  expect((await identity.principal('ann', 'admin')).username).toBe('ann');
  await expect(identity.principal('bob', 'admin')).rejects.toMatchObject({ code: 'unauthorized_error' });
  // A repeat of the import does not bring the old hash back.
  const { told } = await rig.run([['users', '', [user('ann')]]]);
  expect(told).toEqual({});
  expect(await hashOf()).toMatch(/^\$argon2id\$/);
});

test.each([
  [{ passwords: 'reset' }, {}, 'password_reset'],
  [{}, { password_salt: null }, 'password_salt_missing'],
  [{}, { password_hash: null }, 'password_missing'],
  [{}, { password_hash: '$1$abc$def' }, 'password_unreadable'],
  [{}, { password_hash: OLD_HASH.replace('29000', '999999') }, 'password_unreadable'],
])('a password that cannot be kept: %j %j', async (options, change, code) => {
  const { told } = await rig.run([['users', '', [user('ann', change)]]], options);
  expect(told).toEqual({ 'users/ann': `imported ${code}` });
});

test('users who are here: nobody gets rights or another password without `replace`', async () => {
  await identity.call('PUT', '/users', { username: 'Ann', password: 'secret-of-ann', role: 'default' });
  const staged = [
    ['users', '', [user('ann', { role: 'sys_admin', tenants: { default_tenant: 'manager' } })]],
  ] as const;
  const failed = await rig.rehearse(staged);
  expect(failed.told).toEqual({ 'users/Ann': 'conflict differs' });
  await expect(rig.run(staged)).rejects.toMatchObject({ code: 'conflict_error' });
  expect((await rig.run(staged, { on_conflict: 'skip' })).told).toEqual({ 'users/Ann': 'skipped differs' });
  expect((await identity.principal('ann', 'secret-of-ann')).role).toBe('default');
  expect((await rig.run(staged, { on_conflict: 'replace' })).told).toEqual({
    'users/Ann': 'replaced differs',
  });
  expect((await identity.principal('ann', 'secret-of-ann')).role).toBe('sys_admin');
  expect((await rig.run(staged)).outcome.types[0]).toMatchObject({ same: 1 });
});

test.each([
  ['map', 'skipped not_created'],
  ['ignore', 'skipped users_ignored'],
])('users: %s', async (users, fate) => {
  expect((await rig.run([['users', '', [user('ann')]]], { users })).told).toEqual({ 'users/ann': fate });
});

test('built-in roles are not widened; custom roles come with their permissions', async () => {
  const permissions = [
    { role: 'viewer', permission: 'blueprint_delete' },
    { role: 'viewer', permission: 'blueprint_list' },
    { role: 'auditor', permission: 'audit_log_view' },
    { role: 'auditor', permission: 'blueprint_list' },
    { role: 'unused', permission: 'site_list' },
  ];
  const staged = [
    ['permissions', '', permissions],
    [
      'users',
      '',
      [
        user('ann', { role: 'auditor' }),
        user('bob', { role: 'nobody-knows' }),
        user('eve', { role: 'manager' }),
      ],
    ],
  ] as const;
  const { told, outcome } = await rig.run(staged);
  expect(told).toEqual({
    'permissions/viewer/blueprint_delete': 'lost role_not_widened',
    'users/bob': 'lost role_unknown',
    'users/eve': 'lost role_unknown',
  });
  expect(outcome.notes.join()).toMatch(
    /Role viewer has 1 permissions here that it had not in the archive: site_list/,
  );
  expect(
    await rows(`select name, type from roles where name in ('auditor', 'unused') order by name`),
  ).toEqual([
    { name: 'auditor', type: 'system_role' },
    { name: 'unused', type: 'tenant_role' },
  ]);
  expect((await identity.principal('ann', 'admin')).permissions).toEqual(
    expect.arrayContaining(['audit_log_view', 'blueprint_list']),
  );
  const wider = [['permissions', '', [{ role: 'auditor', permission: 'user_create' }]]] as const;
  expect((await rig.rehearse(wider)).told).toEqual({ 'permissions/auditor/user_create': 'conflict differs' });
});

test('hostile records are lost, each by itself', async () => {
  const { told } = await rig.run([
    ['tenants', '', [{ name: '../x' }, { name: 'n'.repeat(300) }, { name: 7 }, { name: 'users' }]],
    [
      'user_groups',
      '',
      [
        { name: 'g', tenants: { a: 3 } },
        { name: 'h', role: 'x\u0000' },
      ],
    ],
    [
      'users',
      '',
      [
        user('ann', { groups: 'all' }),
        user('Bob'),
        user('bob', { role: 'sys_admin' }),
        { username: 'n\u0000l' },
      ],
    ],
    ['permissions', '', [{ role: 'viewer', permission: ['x'] }]],
  ]);
  expect(Object.values(told)).toEqual(expect.arrayContaining(['lost invalid']));
  expect(Object.entries(told).filter(([, fate]) => !fate.startsWith('lost'))).toEqual([]);
  expect(await rows(`select username from users where username <> 'admin'`)).toEqual([{ username: 'Bob' }]);
});

test('what is staged of users holds no hash and no salt', async () => {
  await rig.stage('00000000-0000-4000-8000-000000000001', [['users', '', [user('ann')]]]);
  const [{ records }] = await rows('select records from import_staging');
  expect(records).not.toMatch(/pbkdf2|Kf0Zl3r5nqYb2hVw|ann/);
});

test('a bundle of a tenant comes back the same elsewhere', async () => {
  await rig.run([
    ['tenants', '', [{ name: 'a' }]],
    ['user_groups', '', [{ name: 'team', role: 'default', tenants: { a: 'viewer' } }]],
    ['users', '', [user('ann', { tenants: { a: 'manager' }, groups: ['team'] })]],
  ]);
  const bundleKey = Buffer.alloc(32, 7).toString('base64url');
  const types = await rig.exported({ tenant: 'a', bundleKey });
  expect(types.users).toEqual([
    expect.objectContaining({
      username: 'ann',
      password_hash: OLD_HASH,
      tenants: { a: 'manager' },
      groups: ['team'],
    }),
  ]);
  expect(JSON.stringify(types)).not.toContain(SALT);
  const other = await startTestIdentity();
  try {
    const staged = Object.entries(types).map(([type, items]) => [type, '', items] as const);
    const { told } = await importRig(other.parts.rpc).run(staged, { passwords: 'reset' });
    expect(told).toEqual({ 'users/ann': 'imported password_reset' });
    expect(await importRig(other.parts.rpc).exported({ tenant: 'a' })).toMatchObject({
      user_groups: types.user_groups!,
    });
  } finally {
    await other.stop();
  }
});
