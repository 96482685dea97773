/** Imports of secrets and secrets providers into a real database. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readAll } from '@baton/cloudify-archive/testing';
import { type ImportRig, importRig } from '@baton/import-part/testing';
import { startSecrets, userOf } from '../testing/secrets-setup';

const S71 = join(__dirname, '../../../../packages/cloudify-archive/test-archives/cloudify-7.1-community.zip');
const CANARY = 'canary-value-f27';

let secrets: Awaited<ReturnType<typeof startSecrets>>;
let rig: ImportRig;

beforeEach(async () => {
  secrets = await startSecrets();
  rig = importRig(secrets.parts.rpc);
});
afterEach(() => secrets.close());

const secret = (key: string, more: object = {}) => ({
  key,
  value: CANARY,
  created_by: 'ann',
  visibility: 'tenant',
  ...more,
});
const provider = (name: string, more: object = {}) => ({ name, type: 'local', created_by: 'ann', ...more });
const shown = async (key: string, tenant = 't1') =>
  (
    await secrets.call('GET', `/secrets/${key}`, {
      as: { ...userOf('admin', tenant), role: 'sys_admin', isBootstrapAdmin: true },
    })
  ).body;

test('the archive of a real manager: values, hidden flags, owners and times', async () => {
  const { records } = await readAll(readFileSync(S71));
  const items = records.flatMap((record) => (record.type === 'secrets' ? [record.item] : []));
  const { outcome, told } = await rig.run([['secrets', 't1', items]]);
  expect(outcome.types).toEqual([expect.objectContaining({ type: 'secrets', read: 2, imported: 2 })]);
  expect(told).toEqual({});
  expect(await shown('snap-secret')).toMatchObject({
    value: 's3cr3t-value',
    is_hidden_value: false,
    created_by: 'admin',
    created_at: '2026-11-20T17:05:37.720Z',
  });
  expect(await shown('snap-hidden')).toMatchObject({ value: 'hidden-value', is_hidden_value: true });
  expect((await secrets.call('GET', '/secrets/snap-hidden', { as: userOf('bob') })).text).not.toContain(
    'hidden-value',
  );
  expect((await rig.run([['secrets', 't1', items]])).outcome.types[0]).toMatchObject({
    same: 2,
    imported: 0,
  });
});

test('a value is nowhere in clear text: not in rows, not in staging, not in fates, not in the log', async () => {
  const staged = [
    [
      'secrets_providers',
      't1',
      [
        provider('vault', {
          type: 'vault',
          connection_parameters: { url: 'https://v', token: CANARY, path: 'p' },
        }),
      ],
    ],
    [
      'secrets',
      't1',
      [
        secret('a'),
        secret('b', { provider_name: 'vault', provider_options: { path: CANARY } }),
        { key: CANARY.repeat(20), value: CANARY },
      ],
    ],
  ] as const;
  await rig.run(staged);
  await rig.rehearse([
    ['secrets', 't1', [secret('a', { value: `${CANARY}-2` }), secret('c', { value: { x: CANARY } })]],
  ]);
  const { rows: tables } = await secrets.db.pool.query(
    `select table_name from information_schema.tables where table_schema = 'secrets'`,
  );
  for (const { table_name: table } of tables) {
    const { rows } = await secrets.db.pool.query(`select t::text as line from secrets.${table} t`);
    for (const { line } of rows) {
      expect([table, line.includes(CANARY) && !line.includes(CANARY.repeat(2))]).toEqual([table, false]);
      expect(line).not.toContain(Buffer.from(CANARY).toString('hex'));
    }
  }
  expect(secrets.logged.join('\n')).not.toContain(CANARY);
});

test('secrets that are here follow on_conflict', async () => {
  await secrets.call('PUT', '/secrets/a', { json: { value: 'mine' } });
  const staged = [['secrets', 't1', [secret('a')]]] as const;
  expect((await rig.rehearse(staged)).told).toEqual({ 'secrets/a': 'conflict differs' });
  await expect(rig.run(staged)).rejects.toMatchObject({ code: 'conflict_error' });
  expect((await rig.run(staged, { on_conflict: 'skip' })).told).toEqual({ 'secrets/a': 'skipped differs' });
  expect(await shown('a')).toMatchObject({ value: 'mine' });
  expect((await rig.run(staged, { on_conflict: 'replace' })).told).toEqual({
    'secrets/a': 'replaced differs',
  });
  expect(await shown('a')).toMatchObject({ value: CANARY, created_by: 'admin' });
  expect((await rig.run(staged, { on_conflict: 'replace' })).told).toEqual({});
});

test('an apply is refused when a secret has changed since the rehearsal', async () => {
  const staged = [['secrets', 't1', [secret('a')]]] as const;
  await secrets.call('PUT', '/secrets/a', { json: { value: CANARY } });
  const before = (await rig.rehearse(staged)).outcome.metDigest;
  await secrets.call('PUT', '/secrets/a', { json: { value: 'other', update_if_exists: true } });
  await secrets.call('PUT', '/secrets/a', { json: { value: CANARY, update_if_exists: true } });
  expect((await rig.rehearse(staged)).outcome.metDigest).not.toBe(before);
});

test('objects of other tenants are never touched', async () => {
  const staged = (tenant: string, visibility: string) =>
    [['secrets', tenant, [secret('shared', { visibility })]]] as const;
  await rig.run(staged('t1', 'tenant'));
  expect((await rig.run(staged('t2', 'global'), { on_conflict: 'replace' })).told).toEqual({
    'secrets/shared': 'imported visibility_narrowed',
  });
  await rig.run([['secrets', 't1', [secret('wide', { visibility: 'global' })]]]);
  expect((await rig.run([['secrets', 't2', [secret('wide')]]], { on_conflict: 'replace' })).told).toEqual({
    'secrets/wide': 'lost name_taken',
  });
  expect(await shown('wide')).toMatchObject({ tenant_name: 't1', visibility: 'global' });
});

test('providers: known types, valid parameters, and secrets that name them', async () => {
  const vault = { url: 'https://vault.example', token: 'tok', path: 'apps' };
  const staged = [
    [
      'secrets_providers',
      't1',
      [
        provider('v', { type: 'vault', connection_parameters: vault }),
        provider('l'),
        provider('odd', { type: 'aws' }),
        provider('bad', { type: 'vault', connection_parameters: { ...vault, token: 7 } }),
      ],
    ],
    [
      'secrets',
      't1',
      [
        secret('at-vault', { provider_name: 'v', value: null, provider_options: { path: 'x' } }),
        secret('local', { provider_name: 'l' }),
        secret('orphan', { provider_name: 'gone' }),
        secret('empty', { value: null }),
        secret('json', {
          value: '{"port": 99}',
          schema: { type: 'object', properties: { port: { maximum: 9 } } },
        }),
      ],
    ],
  ] as const;
  const { told, fates } = await rig.run(staged);
  expect(told).toEqual({
    'secrets_providers/odd': 'lost provider_type_unknown',
    'secrets_providers/bad': 'lost invalid',
    'secrets/orphan': 'lost provider_missing',
    'secrets/empty': 'lost value_missing',
    'secrets/json': 'imported schema_mismatch',
  });
  expect(fates.find(({ id }) => id === 'bad')?.text).toMatch(/connection_parameters\.token/);
  expect(await shown('local')).toMatchObject({ value: CANARY });
  expect(await shown('json')).toMatchObject({ value: { port: 99 } });
  expect((await rig.run(staged)).outcome.types).toEqual([
    expect.objectContaining({ same: 2, lost: 2, imported: 0 }),
    expect.objectContaining({ same: 3, lost: 2, imported: 0 }),
  ]);
});

test('hostile records are lost, each by itself', async () => {
  const { told, outcome } = await rig.run([
    [
      'secrets',
      't1',
      [
        secret('provider x'),
        secret('k'.repeat(300)),
        secret('type', { value: 7 }),
        secret('wide', { visibility: 'everybody' }),
        secret('nul', { created_by: 'a\u0000b' }),
        secret('big', { value: 'x'.repeat(1024 * 1024 + 1) }),
        { key: null },
        secret('good'),
        secret('good', { value: 'again' }),
        secret('schema', { schema: { title: 'a\u0000b' } }),
        secret('zero', { value: 'a\u0000b' }),
      ],
    ],
  ]);
  expect(outcome.types[0]).toMatchObject({ read: 11, imported: 2, lost: 9 });
  expect(new Set(Object.values(told))).toEqual(new Set(['lost invalid', 'lost repeated']));
  expect(await shown('zero')).toMatchObject({ value: 'a\u0000b' });
});

test('a bundle has values only under its key', async () => {
  await rig.run([['secrets', 't1', [secret('a'), secret('b')]]]);
  expect(JSON.stringify(await rig.exported({ tenant: 't1' }))).not.toContain('sealed');
  const bundleKey = Buffer.alloc(32, 9).toString('base64url');
  const { secrets: items } = await rig.exported({
    tenant: 't1',
    bundleKey,
    deploymentId: 'd',
    closureJson: JSON.stringify({ secrets: ['b'] }),
  });
  expect(items).toEqual([
    expect.objectContaining({ key: 'b', sealed: expect.objectContaining({ value: expect.any(String) }) }),
  ]);
  expect(JSON.stringify(items)).not.toContain(CANARY);
});
