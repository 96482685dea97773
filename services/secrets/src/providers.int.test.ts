import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '@baton/kernel';
import { rewrapOnce } from './commands/rewrap-keys';
import { masterKeyOf, openValue, sealValue } from './domain/envelope';
import { admin, startSecrets, userOf } from './testing/secrets-setup';

/** Test servers: a key-value store and another manager, with answers as in their documentation. */
let store: http.Server;
let host: string;
let asked: string[] = [];
const TOKEN = 'canary-vault-token';
const documents: Record<string, unknown> = {
  '/v1/secret/data/team/app': { data: { data: { db: 'pw from vault', doc: { a: 1 } }, metadata: {} } },
  '/v1/kv/data/app': { data: { data: { db: 'pw of another mount' } } },
  '/api/v3.1/secrets?_size=1': { items: [] },
  '/api/v3.1/secrets/far': { key: 'far', value: 'pw from afar' },
};
const BASIC = `Basic ${Buffer.from('robot:canary-password').toString('base64')}`;

let service: Awaited<ReturnType<typeof startSecrets>>;
let call: (typeof service)['call'];
beforeAll(async () => {
  store = http.createServer((request, response) => {
    asked.push(request.url!);
    const isVault = request.url!.startsWith('/v1/');
    const mayAsk = isVault
      ? request.headers['x-vault-token'] === TOKEN
      : request.headers.authorization === BASIC && request.headers.tenant === 'infra';
    const found = documents[request.url!];
    if (!mayAsk) response.writeHead(403).end('{"errors":["permission denied"]}');
    else if (found === undefined) response.writeHead(404).end('{"errors":[]}');
    else response.end(JSON.stringify(found));
  });
  await new Promise<void>((done) => store.listen(0, '127.0.0.1', done));
  host = `127.0.0.1:${(store.address() as AddressInfo).port}`;
  service = await startSecrets({ BATON_SECRETS_PROVIDER_ALLOW: '127.0.0.0/8' });
  ({ call } = service);
});
afterAll(async () => {
  await service.close();
  store.close();
});
beforeEach(() => {
  asked = [];
});

const ann = userOf('ann');
const bob = userOf('bob');
const vault = (more: object = {}) => ({
  type: 'vault',
  connection_parameters: { url: `http://${host}`, token: TOKEN, path: 'team/app', ...more },
});
const create = (name: string, body: object, as = ann) =>
  call('PUT', '/secrets-providers', { json: { name, visibility: 'tenant', ...body }, as });
const put = (key: string, json: object, as = ann) => call('PUT', `/secrets/${key}`, { json, as });
const read = (key: string, as = ann) => call('GET', `/secrets/${key}`, { as });
const code = async (answer: Promise<{ status: number; body: { error_code?: string } }>) => {
  const { status, body } = await answer;
  return [status, body?.error_code];
};

it('keeps a provider that can be reached, shows its credentials to the right alone, and encrypts them', async () => {
  const made = await create('v', vault());
  expect([made.status, made.body]).toEqual([
    200,
    expect.objectContaining({
      id: 'v',
      name: 'v',
      type: 'vault',
      connection_parameters: null,
      created_by: 'ann',
      tenant_name: 't1',
      visibility: 'tenant',
    }),
  ]);
  expect(asked).toEqual(['/v1/secret/data/team/app']);
  const shown = await call('GET', '/secrets-providers/v', { as: admin });
  expect(shown.body.connection_parameters).toEqual(vault().connection_parameters);
  expect(
    (await call('GET', '/secrets-providers', { as: admin })).body.items[0].connection_parameters.token,
  ).toBe(TOKEN);
  const list = await call('GET', '/secrets-providers', { as: bob });
  expect(list.body).toMatchObject({
    items: [{ name: 'v', connection_parameters: null }],
    metadata: { pagination: { total: 1 } },
  });
  expect(list.text).not.toContain('canary');
  const rows = await service.db.pool.query(`select row_to_json(p)::text as row from secrets_providers p`);
  expect(Buffer.from(rows.rows[0].row).includes('canary')).toBe(false);
  expect(await code(create('v', vault()))).toEqual([409, 'conflict_error']);
});

it('reads a value where it is kept: by the key, by provider_options.path, as JSON with a schema', async () => {
  await put('db', { value: '', provider_name: 'v' });
  await put('renamed', { value: '', provider_name: 'v', provider_options: { path: 'db' } });
  await put('doc', { value: '', provider_name: 'v', schema: { type: 'object' } });
  expect((await read('db')).body).toMatchObject({
    value: 'pw from vault',
    provider_name: 'v',
    provider_options: null,
  });
  expect((await read('renamed')).body).toMatchObject({
    value: 'pw from vault',
    provider_options: { path: 'db' },
  });
  expect((await read('doc')).body.value).toEqual({ a: 1 });
  expect((await call('GET', '/secrets?provider_name=v&_include=key', { as: ann })).body.items).toHaveLength(
    3,
  );
  const released = await service.rpc.getSecretValues({
    tenant: 't1',
    keys: ['db', 'renamed', 'none'],
    username: 'ann',
    isAdministrator: false,
  });
  expect(released).toEqual({
    valuesJson: { db: '"pw from vault"', renamed: '"pw from vault"' },
    missing: ['none'],
    hidden: [],
  });
  asked = [];
  expect((await call('GET', '/secrets/db?_skip_value=true', { as: ann })).body.value).toBe('');
  expect(asked).toEqual([]);
});

it('another mount, another manager', async () => {
  await create('kv', vault({ mount: 'kv', path: 'app' }));
  await put('other', { value: '', provider_name: 'kv', provider_options: { path: 'db' } });
  expect((await read('other')).body.value).toBe('pw of another mount');
  const parameters = {
    host,
    username: 'robot',
    password: 'canary-password',
    tenant: 'infra',
    protocol: 'http',
  };
  await create('far', { type: 'cloudify', connection_parameters: parameters });
  await put('far', { value: '', provider_name: 'far' });
  expect((await read('far')).body.value).toBe('pw from afar');
  expect(asked).toContain('/api/v3.1/secrets?_size=1');
});

it('a local provider keeps the value here', async () => {
  await create('here', { type: 'local' });
  expect(await code(put('kept', { value: '', provider_name: 'here' }))).toEqual([
    400,
    'bad_parameters_error',
  ]);
  await put('kept', { value: 'v1', provider_name: 'here' });
  await put('kept', { value: 'v2', update_if_exists: true });
  expect((await read('kept')).body).toMatchObject({ value: 'v2', provider_name: 'here' });
  expect(asked).toEqual([]);
});

it('moves a secret to a provider and back; what is kept outside is not written here', async () => {
  await put('moved', { value: 'mine' });
  expect(
    await code(call('PATCH', '/secrets/moved', { json: { provider_options: { path: 'db' } }, as: ann })),
  ).toEqual([400, 'bad_parameters_error']);
  // The original's CLI sends empty options with every change.
  const emptied = { value: 'mine', provider_options: {} };
  expect((await call('PATCH', '/secrets/moved', { json: emptied, as: ann })).status).toBe(200);
  const options = { provider_name: 'v', provider_options: { path: 'db' } };
  expect((await call('PATCH', '/secrets/moved', { json: options, as: ann })).body.value).toBe('');
  expect((await read('moved')).body.value).toBe('pw from vault');
  for (const json of [{ value: 'x' }, { value: 'x', update_if_exists: true }]) {
    const method = 'update_if_exists' in json ? 'PUT' : 'PATCH';
    expect(await code(call(method, '/secrets/moved', { json, as: ann }))).toEqual([
      400,
      'bad_parameters_error',
    ]);
  }
  expect(await code(call('PATCH', '/secrets/moved', { json: { provider_name: 'here' }, as: ann }))).toEqual([
    400,
    'bad_parameters_error',
  ]);
  const back = { provider_name: 'here', value: 'mine again' };
  expect((await call('PATCH', '/secrets/moved', { json: back, as: ann })).body).toMatchObject({
    value: 'mine again',
    provider_options: null,
  });
});

it('says failed_dependency when the provider does not give the value, and never a credential', async () => {
  await put('lost', { value: '', provider_name: 'v', provider_options: { path: 'nosuch' } });
  const lost = await read('lost');
  expect([lost.status, lost.body.error_code, lost.body.provider]).toEqual([400, 'failed_dependency', 'v']);
  const refused = await create('wrong', vault({ token: 'canary-wrong' }));
  expect([refused.status, refused.body.error_code]).toEqual([400, 'failed_dependency']);
  const unsendable = await create('wrong', vault({ token: 'canary\nheader: x' }));
  expect([unsendable.status, unsendable.body.error_code]).toEqual([400, 'failed_dependency']);
  expect(refused.text + unsendable.text + lost.text + service.logged.join()).not.toContain('canary');
  expect(await code(call('GET', '/secrets-providers/wrong'))).toEqual([404, 'not_found_error']);
});

it.each([
  ['an address inside', { url: 'http://10.0.0.1:8200' }, 'failed_dependency'],
  ['the metadata address', { url: 'http://169.254.169.254' }, 'failed_dependency'],
  ['another protocol', { url: 'file:///etc/passwd' }, 'bad_parameters_error'],
  ['a user in the address', { url: 'http://a:b@127.0.0.1' }, 'failed_dependency'],
  ['a path that leads out', { path: '../../sys/seal' }, 'bad_parameters_error'],
  ['no token', { token: '' }, 'bad_parameters_error'],
  ['an unknown parameter', { verify: false }, 'bad_parameters_error'],
])('refuses %s', async (_what, more, expected) => {
  expect(await code(create('bad', vault(more)))).toEqual([400, expected]);
  expect(asked).toEqual([]);
});

it('tries without keeping, as described or by name', async () => {
  const test = (json: object, as = ann) =>
    call('PUT', '/secrets-providers', { json: { ...json, test: true }, as });
  expect((await test({ name: '', ...vault() })).status).toBe(204);
  expect((await test({ name: 'v', type: '' })).status).toBe(204);
  expect(await code(test({ name: '', ...vault({ token: 'no' }) }))).toEqual([400, 'failed_dependency']);
  expect(await code(test({ name: 'nosuch' }))).toEqual([404, 'not_found_error']);
  expect(await code(test({ name: '', type: '' }))).toEqual([400, 'bad_parameters_error']);
  const patch = { connection_parameters: vault({ path: 'nosuch' }).connection_parameters, test: true };
  expect(await code(call('PATCH', '/secrets-providers/v', { json: patch, as: ann }))).toEqual([
    400,
    'failed_dependency',
  ]);
  expect(
    (await call('GET', '/secrets-providers?_include=name')).body.items.map((p: { name: string }) => p.name),
  ).toEqual(['v', 'kv', 'far', 'here']);
});

it('changes what is given; a store that is used keeps its kind and cannot be deleted', async () => {
  const patch = (name: string, json: object, as = ann) =>
    call('PATCH', `/secrets-providers/${name}`, { json, as });
  expect(await code(patch('v', {}))).toEqual([400, 'illegal_action_error']);
  expect(await code(patch('v', { type: 'local' }))).toEqual([409, 'conflict_error']);
  expect(await code(patch('v', { visibility: 'private' }))).toEqual([400, 'illegal_action_error']);
  expect(await code(patch('v', { visibility: 'global' }))).toEqual([403, 'forbidden_error']);
  expect((await patch('v', { visibility: 'global' }, admin)).body.visibility).toBe('global');
  const elsewhere = userOf('cem', 't2');
  await put('shared', { value: '', provider_name: 'v', provider_options: { path: 'db' } }, elsewhere);
  expect((await read('shared', elsewhere)).body.value).toBe('pw from vault');
  expect(await code(call('DELETE', '/secrets-providers/v', { as: elsewhere }))).toEqual([
    400,
    'illegal_action_error',
  ]);
  expect(await code(call('DELETE', '/secrets-providers/v', { as: ann }))).toEqual([409, 'conflict_error']);
  for (const key of ['db', 'renamed', 'doc', 'lost']) await call('DELETE', `/secrets/${key}`, { as: ann });
  // Still used by the secret of the other tenant, which ann cannot see.
  expect(await code(call('DELETE', '/secrets-providers/v', { as: ann }))).toEqual([409, 'conflict_error']);
  await call('DELETE', '/secrets/shared', { as: elsewhere });
  expect((await call('DELETE', '/secrets-providers/v', { as: ann })).status).toBe(204);
  expect(await code(call('DELETE', '/secrets-providers/v', { as: ann }))).toEqual([404, 'not_found_error']);
});

it('private providers are not there for others', async () => {
  await create('own', { type: 'local', visibility: 'private' });
  expect(await code(call('GET', '/secrets-providers/own', { as: bob }))).toEqual([404, 'not_found_error']);
  expect(await code(put('stolen', { value: 'x', provider_name: 'own' }, bob))).toEqual([
    404,
    'not_found_error',
  ]);
  expect((await call('GET', '/secrets-providers', { as: bob })).text).not.toContain('"own"');
});

it('exports name and options instead of the value, and imports them where the provider is', async () => {
  const exported = await call('GET', '/secrets/share/export?_all_tenants=true&key=other&key=far', {
    as: admin,
  });
  expect(exported.body).toEqual([
    expect.objectContaining({ key: 'other', value: '', provider: 'kv', provider_options: { path: 'db' } }),
    expect.objectContaining({ key: 'far', value: '', provider: 'far', provider_options: null }),
  ]);
  await call('DELETE', '/secrets/other', { as: ann });
  const secrets_list = [
    ...exported.body.slice(0, 1),
    { ...exported.body[0], key: 'lost', provider: 'nosuch' },
  ];
  const imported = await call('POST', '/secrets/share/import', {
    json: { secrets_list, override_collisions: false },
    as: ann,
  });
  expect(imported.body.secrets_errors).toEqual({
    1: { 'missing secret fields': ['value'], provider: 'there is no such secrets provider' },
  });
  expect((await read('other')).body.value).toBe('pw of another mount');
});

it('a change of the master key takes the connection parameters along', async () => {
  const { rows } = await service.db.pool.query('select distinct master_key_id from secrets_providers');
  expect(rows).toHaveLength(1);
  const masters = await service.masters();
  const next = masterKeyOf(new Secret('another master key of at least 32 characters'));
  await rewrapOnce({ db: service.db, masters: [next, ...masters] });
  const after = await service.db.pool.query('select distinct master_key_id from secrets_providers');
  expect(after.rows).toEqual([{ master_key_id: next.id }]);
  await rewrapOnce({ db: service.db, masters: [...masters, next] });
  expect((await read('other')).body.value).toBe('pw of another mount');
});

it('a process that knows nothing of providers is refused their secrets; what was sealed before is still read', async () => {
  const masters = await service.masters();
  const { rows } = await service.db.pool.query(
    `select tenant, key, version, ciphertext, wrapped_key as "wrappedKey", master_key_id as "masterKeyId"
     from secrets where key = 'other'`,
  );
  const { tenant, key, version, ...sealed } = rows[0]!;
  expect(() => openValue(masters, { tenant, key, version }, sealed)).toThrow(/cannot be decrypted/);
  const text = openValue(masters, { tenant, key, version }, sealed, 'content');
  const before = sealValue(masters[0]!, { tenant, key, version }, text);
  await service.db.pool.query(
    "update secrets set ciphertext = $1, wrapped_key = $2, master_key_id = $3 where key = 'other'",
    [before.ciphertext, before.wrappedKey, before.masterKeyId],
  );
  expect((await read('other')).body.value).toBe('pw of another mount');
});
