import { Secret } from '@baton/kernel';
import { rewrapOnce } from './commands/rewrap-keys';
import { masterKeyOf } from './domain/envelope';
import { admin, startSecrets, userOf } from './testing/secrets-setup';

let service: Awaited<ReturnType<typeof startSecrets>>;
let call: (typeof service)['call'];
beforeAll(async () => {
  service = await startSecrets();
  ({ call } = service);
});
afterAll(() => service.close());

const ann = userOf('ann');
const bob = userOf('bob');
const put = (key: string, json: object, as = ann) => call('PUT', `/secrets/${key}`, { json, as });
const code = async (answer: Promise<{ status: number; body: { error_code?: string } }>) => {
  const { status, body } = await answer;
  return [status, body?.error_code];
};

it('creates, refuses a second, replaces the value with update_if_exists only', async () => {
  expect((await put('plain', { value: 'v1', visibility: 'tenant' })).body).toMatchObject({
    key: 'plain',
    value: 'v1',
    visibility: 'tenant',
    is_hidden_value: false,
    schema: null,
    created_by: 'ann',
    tenant_name: 't1',
    private_resource: false,
  });
  expect(await code(put('plain', { value: 'v2' }))).toEqual([409, 'conflict_error']);
  const updated = await put('plain', { value: 'v3', update_if_exists: true, is_hidden_value: true }, bob);
  expect(updated.body).toMatchObject({ value: 'v3', created_by: 'ann', is_hidden_value: false });
  expect((await call('GET', '/secrets/plain?_skip_value=true', { as: ann })).body.value).toBe('');
  expect((await call('GET', '/secrets/plain?_include=key,value', { as: ann })).body).toEqual({
    key: 'plain',
    value: 'v3',
  });
});

it.each([
  ['no value', {}],
  ['an empty value', { value: '' }],
  ['an object without schema', { value: { a: 1 } }],
  ['a number', { value: 5 }],
  ['an unknown visibility', { value: 'x', visibility: 'rubbish' }],
  ['a flag that is none', { value: 'x', is_hidden_value: 'yes' }],
  ['a schema that is none', { value: 'x', schema: { type: 'nosuchtype' } }],
])('refuses %s', async (_what, body) => {
  expect(await code(put('refused', body))).toEqual([400, 'bad_parameters_error']);
});

it('refuses bad keys, unknown providers, and patches that change nothing', async () => {
  expect(await code(put('bad$key', { value: 'x' }))).toEqual([400, 'bad_parameters_error']);
  expect(await code(put('k', { value: 'x', provider_name: 'nosuch' }))).toEqual([404, 'not_found_error']);
  expect(await code(call('PATCH', '/secrets/plain', { json: {}, as: ann }))).toEqual([
    400,
    'illegal_action_error',
  ]);
  expect(await code(call('PATCH', '/secrets/nosuch', { json: { value: 'x' }, as: ann }))).toEqual([
    404,
    'not_found_error',
  ]);
});

it('a hidden value reaches its creator and administrators, by the single read only', async () => {
  await put('hid', { value: 'canary-hidden-7f3a', is_hidden_value: true });
  expect((await call('GET', '/secrets/hid', { as: ann })).body.value).toBe('canary-hidden-7f3a');
  expect((await call('GET', '/secrets/hid', { as: admin })).body.value).toBe('canary-hidden-7f3a');
  expect((await call('GET', '/secrets/hid', { as: bob })).body.value).toBe('');
  for (const method of ['PATCH', 'DELETE']) {
    expect(await code(call(method, '/secrets/hid', { json: { value: 'x' }, as: bob }))).toEqual([
      403,
      'forbidden_error',
    ]);
  }
  expect(await code(put('hid', { value: 'x', update_if_exists: true }, bob))).toEqual([
    403,
    'forbidden_error',
  ]);
  expect(await code(call('PATCH', '/secrets/plain', { json: { is_hidden_value: true }, as: bob }))).toEqual([
    403,
    'forbidden_error',
  ]);
  const elsewhere = ['/secrets', '/secrets?_search=hid', '/secrets/share/export'];
  for (const path of elsewhere) expect((await call('GET', path, { as: bob })).text).not.toContain('canary');
  expect((await call('GET', '/secrets', { as: ann })).text).not.toContain('canary');
  expect(await code(call('GET', '/secrets?_include=value', { as: ann }))).toEqual([
    400,
    'no_such_include_field_error',
  ]);
  expect((await call('POST', '/searches/secrets', { json: {}, as: ann })).text).not.toContain('canary');
});

it('a manager of one tenant does not see hidden values of another', async () => {
  await put(
    'far',
    { value: 'canary-far', is_hidden_value: true, visibility: 'global' },
    { ...admin, tenant: 't2' },
  );
  const manager = {
    ...userOf('max'),
    permissions: ['administrators', 'secret_get'],
    tenants: [{ name: 't1', roles: ['manager'] }],
  };
  expect((await call('GET', '/secrets/far', { as: manager })).body).toMatchObject({
    tenant_name: 't2',
    value: '',
  });
  expect((await call('GET', '/secrets/share/export', { as: manager })).text).not.toContain('canary-far');
  const seen = await service.rpc.getSecretValues({
    tenant: 't1',
    keys: ['far'],
    username: 'max',
    isAdministrator: true,
  });
  expect(seen).toMatchObject({ valuesJson: {}, hidden: ['far'] });
  expect(
    await code(call('PATCH', '/secrets/far', { json: { value: 'x' }, as: { ...admin, tenant: 't1' } })),
  ).toEqual([400, 'illegal_action_error']);
  await call('DELETE', '/secrets/far', { as: { ...admin, tenant: 't2' } });
});

it('private secrets are not there for others', async () => {
  await put('own', { value: 'x', visibility: 'private' });
  expect(await code(call('GET', '/secrets/own', { as: bob }))).toEqual([404, 'not_found_error']);
  expect(await code(put('own', { value: 'y', update_if_exists: true }, bob))).toEqual([
    409,
    'conflict_error',
  ]);
  expect((await call('GET', '/secrets?key=own', { as: bob })).body.metadata.pagination.total).toBe(0);
});

it('global needs the right and a free key', async () => {
  await put('wide', { value: 'x' });
  const set = (as: typeof admin, visibility = 'global') =>
    call('PATCH', '/secrets/wide/set-visibility', { json: { visibility }, as });
  expect(await code(set(ann))).toEqual([403, 'forbidden_error']);
  await put('wide', { value: 'other' }, userOf('eve', 't2'));
  expect(await code(set(admin))).toEqual([409, 'conflict_error']);
  await call('DELETE', '/secrets/wide', { as: userOf('eve', 't2') });
  expect((await set(admin)).body.visibility).toBe('global');
  expect(await code(set(admin, 'tenant'))).toEqual([400, 'illegal_action_error']);
  expect((await call('GET', '/secrets/wide', { as: userOf('eve', 't2') })).body.value).toBe('x');
});

it('lists with pages, sorts and searches', async () => {
  const keys = async (path: string) =>
    (await call('GET', path, { as: ann })).body.items.map((s: { key: string }) => s.key);
  expect(await keys('/secrets?_sort=-key&_size=2')).toEqual(['wide', 'plain']);
  expect(await keys('/secrets?_sort=key&_offset=3')).toEqual(['wide']);
  expect(await keys('/secrets?_search=HI')).toEqual(['hid']);
  const found = await call('POST', '/searches/secrets', {
    json: { constraints: { name_pattern: { starts_with: 'p' } } },
    as: ann,
  });
  expect(found.body).toMatchObject({
    items: [{ key: 'plain', value: '', schema: null, provider_options: null }],
    metadata: { filtered: 3 },
  });
  // `filtered` counts the other visible secrets, whatever left them out.
  const searched = await call('POST', '/searches/secrets?_search=i', {
    json: { constraints: { name_pattern: { starts_with: 'p' } } },
    as: ann,
  });
  expect(searched.body.metadata).toEqual({
    pagination: { total: 1, offset: 0, size: 1000 },
    filtered: 3,
  });
});

describe('export and import', () => {
  const item = {
    key: 'in1',
    value: 'v',
    tenant_name: 't1',
    visibility: 'tenant',
    is_hidden_value: false,
    encrypted: false,
  };
  const load = (secrets_list: unknown[], more: object = {}, as = ann) =>
    call('POST', '/secrets/share/import', {
      json: { secrets_list, override_collisions: false, ...more },
      as,
    });

  it('goes through a passphrase, given in the query or in a header', async () => {
    const exported = (await call('GET', '/secrets/share/export?_passphrase=password1&key=hid', { as: ann }))
      .body;
    expect(exported).toEqual([
      expect.objectContaining({ key: 'hid', encrypted: true, is_hidden_value: true }),
    ]);
    expect(exported[0].value).not.toContain('canary');
    const moved = { tenant_map: { t1: 't2' }, passphrase: 'password1' };
    expect((await load(exported, moved, admin)).body).toEqual({ colliding_secrets: {}, secrets_errors: {} });
    expect((await call('GET', '/secrets/hid', { as: { ...admin, tenant: 't2' } })).body.value).toBe(
      'canary-hidden-7f3a',
    );
    expect(await code(load(exported, { ...moved, passphrase: 'password2' }, admin))).toEqual([
      400,
      'bad_parameters_error',
    ]);
    const byHeader = await call('GET', '/secrets/share/export?key=plain', {
      as: ann,
      headers: { 'x-baton-passphrase': 'password1' },
    });
    expect(byHeader.body[0].encrypted).toBe(true);
    const keysOnly = '/secrets/share/export?_passphrase=password1&key=plain&_include=key,encrypted';
    expect((await call('GET', keysOnly, { as: ann })).body).toEqual([{ key: 'plain', encrypted: false }]);
    expect(await code(call('GET', '/secrets/share/export?_passphrase=short', { as: ann }))).toEqual([
      400,
      'bad_parameters_error',
    ]);
  });

  it('imports what is well and reports the rest by index', async () => {
    const answer = await load([
      item,
      { ...item, key: 'bad key' },
      { value: 'z' },
      { ...item, key: 'in2', visibility: 'rubbish' },
      { ...item, key: 'in3', tenant_name: 'nosuch' },
      { ...item, key: 'in4', encrypted: true },
      'x',
    ]);
    expect(answer.body.colliding_secrets).toEqual({});
    expect(Object.keys(answer.body.secrets_errors)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(answer.body.secrets_errors[2]['missing secret fields']).toEqual([
      'key',
      'tenant_name',
      'visibility',
      'is_hidden_value',
      'encrypted',
    ]);
    expect(answer.body.secrets_errors[5]).toHaveProperty('No passphrase');
    expect((await call('GET', '/secrets/in1', { as: ann })).body.value).toBe('v');
    expect((await load([{ ...item, value: 'v2' }])).body.colliding_secrets).toEqual({ t1: ['in1'] });
    expect((await call('GET', '/secrets/in1', { as: ann })).body.value).toBe('v');
    await load(
      [
        { ...item, value: 'v2' },
        { ...item, key: 'hid', value: 'stolen' },
      ],
      { override_collisions: true },
      bob,
    );
    expect((await call('GET', '/secrets/in1', { as: ann })).body.value).toBe('v2');
    expect((await call('GET', '/secrets/hid', { as: ann })).body.value).toBe('canary-hidden-7f3a');
    expect((await load([], {})).body).toEqual({ colliding_secrets: {}, secrets_errors: {} });
    const blank = (await load([{ ...item, key: ' ', tenant_name: '\t' }])).body.secrets_errors[0];
    expect(blank['missing secret fields']).toEqual(['key', 'tenant_name']);
    expect(await code(load([item], { tenant_map: { t1: 'nosuch' } }))).toEqual([400, 'bad_parameters_error']);
  });
});

it('on the wire of the original a write answers the text that is stored', async () => {
  const original = await startSecrets({}, 'cloudify');
  try {
    const write = (method: string, json: object) => original.call(method, '/secrets/typed', { json });
    const created = await write('PUT', { value: { port: 1 }, schema: { type: 'object' } });
    expect(created.body).toMatchObject({ value: '{"port": 1}', schema: { type: 'object' } });
    expect((await write('PATCH', { value: { port: 2 } })).body.value).toBe('{"port": 2}');
    expect((await original.call('GET', '/secrets/typed')).body.value).toEqual({ port: 2 });
    expect((await put('typed-in-spec', { value: { port: 1 }, schema: {} })).body.value).toEqual({ port: 1 });
  } finally {
    await original.close();
  }
});

it('releases values over rpc as the user may see them', async () => {
  await put('typed', { value: { port: 1 }, schema: { type: 'object' } });
  const keys = ['plain', 'typed', 'hid', 'own', 'nosuch'];
  const forBob = await service.rpc.getSecretValues({
    tenant: 't1',
    keys,
    username: 'bob',
    isAdministrator: false,
  });
  expect(forBob).toEqual({
    valuesJson: { plain: '"v3"', typed: '{"port":1}' },
    missing: ['own', 'nosuch'],
    hidden: ['hid'],
  });
  const forAdmin = await service.rpc.getSecretValues({
    tenant: 't1',
    keys: ['hid'],
    username: 'root',
    isAdministrator: true,
  });
  expect(JSON.parse(forAdmin.valuesJson.hid!)).toBe('canary-hidden-7f3a');
});

it('keeps no value readable in the database, and writes none to the log', async () => {
  const { rows } = await service.db.pool.query<{ row: string; bytes: Buffer }>(
    'select s::text as row, s.ciphertext as bytes from secrets s',
  );
  expect(rows.length).toBeGreaterThan(3);
  for (const { row, bytes } of rows) {
    expect(row).not.toMatch(/canary/);
    expect(bytes.toString('latin1')).not.toMatch(/canary/);
  }
  await service.db.pool.query(
    `update secrets set ciphertext = set_byte(ciphertext, 0, get_byte(ciphertext, 0) # 255) where key = 'hid' and tenant = 't1'`,
  );
  expect(await code(call('GET', '/secrets/hid', { as: ann }))).toEqual([
    500,
    'invalid_fernet_token_format_error',
  ]);
  await put('canary-key', { value: { deep: 'canary-refused' } });
  expect(service.logged.join('\n')).not.toMatch(/canary-(hidden|far|refused)|password1/);
});

it('moves to a new master key while the old one is still known', async () => {
  const old = new Secret('the former master key, long enough to be one');
  const now = new Secret('the present master key, long enough to be one');
  const before = await startSecrets({ BATON_SECRETS_KEY: old.expose() });
  try {
    await before.call('PUT', '/secrets/k', { json: { value: 'kept' } });
    const { db } = before;
    expect(await rewrapOnce({ db, masters: [masterKeyOf(now), masterKeyOf(old)] })).toEqual({ again: false });
    const { rows } = await db.pool.query('select master_key_id from secrets');
    expect(rows).toEqual([{ master_key_id: masterKeyOf(now).id }]);
    expect((await before.call('GET', '/secrets/k')).status).toBe(500);
  } finally {
    await before.close();
  }
});
