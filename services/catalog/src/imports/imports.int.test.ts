/** Imports of plugins, blueprints and filters into a real database and blob store. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { blobContent, records } from '@baton/cloudify-archive';
import { openBytes } from '@baton/cloudify-archive/testing';
import { type ImportRig, importRig } from '@baton/import-part/testing';
import { newId } from '@baton/kernel';
import { blueprintTgz, tgzOf, zipOf } from '../testing/archives';
import { startCatalog, type TestCatalog, userOf } from '../testing/catalog-setup';
import { bundle, wagon, yaml } from '../testing/plugin-archives';

const S71 = join(__dirname, '../../../../packages/cloudify-archive/test-archives/cloudify-7.1-community.zip');
const T = 'default_tenant';

let catalog: TestCatalog;
let rig: ImportRig;

beforeEach(async () => {
  catalog = await startCatalog();
  rig = importRig(catalog.parts.rpc);
});
afterEach(() => catalog.close());

const put = async (bytes: Buffer) => catalog.blobs.put(Readable.from([bytes], { objectMode: false }));
const show = async (path: string) => (await catalog.call('GET', path)).body;

/** The blueprints of the archive with their files in the blob store, as cluster-status stages them. */
async function realBlueprints(): Promise<object[]> {
  const archive = await openBytes(readFileSync(S71));
  const items: object[] = [];
  for await (const { type, item, blob } of records(archive)) {
    if (type !== 'blueprints' || !blob) continue;
    items.push({ ...item, archive: await catalog.blobs.put(Readable.from(blobContent(archive, blob))) });
  }
  await archive.close();
  return items;
}

test('the archive of a real manager: files, plan, labels, owner and times', async () => {
  const items = await realBlueprints();
  const { outcome, told, fates } = await rig.run([['blueprints', T, items]]);
  expect(outcome.types).toEqual([expect.objectContaining({ type: 'blueprints', read: 1, imported: 1 })]);
  expect([told, fates[0]?.text]).toEqual([
    { 'blueprints/snap-bp': 'imported plan_same' },
    'a new parse gives the plan of the archive',
  ]);
  expect(await show('/blueprints/snap-bp')).toMatchObject({
    id: 'snap-bp',
    created_at: '2026-11-20T17:05:37.806Z',
    created_by: 'admin',
    main_file_name: 'blueprint.yaml',
    state: 'uploaded',
    visibility: 'tenant',
    labels: [expect.objectContaining({ key: 'team', value: 'core', created_at: '2026-11-20T17:05:38.822Z' })],
  });
  const archive = await catalog.call('GET', '/blueprints/snap-bp/archive');
  expect(archive.bytes.length).toBe(439);
  const again = await rig.run([['blueprints', T, items]]);
  expect(again.outcome.types[0]).toMatchObject({ same: 1, imported: 0 });
});

const PLAIN = {
  'blueprint.yaml':
    'tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml]\nnode_templates:\n  host: {type: cloudify.nodes.Root}\n',
};
const blueprint = async (id: string, more: object = {}, files: Record<string, string> = PLAIN) => ({
  id,
  main_file_name: 'blueprint.yaml',
  created_by: 'ann',
  plan: { nodes: [{ id: 'old' }] },
  archive: await put(await blueprintTgz(files)),
  ...more,
});

test('a plan that a new parse does not give: the stored one is kept, with the place', async () => {
  const items = [
    await blueprint('differs'),
    await blueprint('broken', {}, { 'blueprint.yaml': 'tosca_definitions_version: nothing_1_0\n' }),
    await blueprint('no-file', { main_file_name: 'other.yaml' }),
    await blueprint('no-archive', { archive: null }),
    await blueprint('bad-archive', { archive: await put(Buffer.from('no archive')) }),
    await blueprint('no-plan', { plan: null }),
    await blueprint('nothing', { plan: null, archive: null }),
  ];
  const { told, fates } = await rig.run([['blueprints', T, items]]);
  expect(told).toEqual({
    'blueprints/differs': 'imported plan_differs',
    'blueprints/broken': 'imported plan_does_not_parse',
    'blueprints/no-file': 'imported plan_does_not_parse',
    'blueprints/no-archive': 'imported archive_missing',
    'blueprints/bad-archive': 'imported archive_unreadable',
    'blueprints/no-plan': 'imported plan_parsed',
    'blueprints/nothing': 'lost plan_missing',
  });
  expect(fates.find(({ id }) => id === 'differs')?.text).toMatch(/first at blueprint_labels/);
  expect((await show('/blueprints/differs')).plan).toEqual({ nodes: [{ id: 'old' }] });
  expect((await show('/blueprints/no-plan')).plan.nodes[0]).toMatchObject({ name: 'host' });
});

test.each([
  ['stored', undefined, 'old'],
  ['reparse', 'imported plan_differs', 'host'],
])('blueprints: %s', async (blueprints, fate, node) => {
  const { told } = await rig.run([['blueprints', T, [await blueprint('b')]]], { blueprints });
  expect(told['blueprints/b']).toBe(fate);
  expect((await show('/blueprints/b')).plan.nodes[0]).toMatchObject({ id: node });
});

test('blueprints that are here follow on_conflict; failed and unfinished uploads are told', async () => {
  const first = [
    await blueprint('b', { description: 'first' }),
    await blueprint('f', { state: 'failed_parsing', plan: null, error: 'bad' }),
  ];
  await rig.run([['blueprints', T, first]]);
  expect(await show('/blueprints/f')).toMatchObject({ state: 'failed_parsing', error: 'bad' });
  const staged = [['blueprints', T, [await blueprint('b', { description: 'second' })]]] as const;
  expect((await rig.rehearse(staged)).told).toEqual({ 'blueprints/b': 'conflict differs' });
  await expect(rig.run(staged)).rejects.toMatchObject({ code: 'conflict_error' });
  expect((await rig.run(staged, { on_conflict: 'skip' })).told).toEqual({
    'blueprints/b': 'skipped differs',
  });
  expect(await show('/blueprints/b')).toMatchObject({ description: 'first' });
  await rig.run(staged, { on_conflict: 'replace' });
  expect(await show('/blueprints/b')).toMatchObject({ description: 'second' });
  const more = [await blueprint('u', { state: 'uploading' }), await blueprint('x', { state: 'dancing' })];
  expect((await rig.run([['blueprints', T, more]])).told).toEqual({
    'blueprints/u': 'imported upload_not_ended',
    'blueprints/x': 'lost state_unknown',
  });
  expect(await show('/blueprints/u')).toMatchObject({ state: 'failed_uploading' });
});

const plugin = async (bytes: Buffer, more: object = {}) => ({
  id: newId(),
  package_name: 'x-plugin',
  package_version: '1.0',
  created_by: 'ann',
  uploaded_at: '2021-03-04T05:06:07.123Z',
  title: 'demo',
  archive: await put(bytes),
  ...more,
});
const PLUGGED = {
  'blueprint.yaml':
    'tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml, plugin:x-plugin]\nnode_templates:\n  host: {type: x.Node}\n',
};

test('plugins are stored as an upload stores them, and blueprints of the same import find them', async () => {
  const staged = [
    ['plugins', T, [await plugin(await bundle('1.0'))]],
    ['blueprints', T, [await blueprint('b', { plan: null }, PLUGGED)]],
  ] as const;
  expect((await rig.rehearse(staged)).told).toEqual({ 'blueprints/b': 'imported plan_parsed' });
  expect((await show('/plugins')).items).toEqual([]);
  const { told } = await rig.run(staged);
  expect(told).toEqual({ 'blueprints/b': 'imported plan_parsed' });
  expect((await show('/plugins')).items).toEqual([
    expect.objectContaining({
      package_name: 'x-plugin',
      created_by: 'ann',
      title: 'demo',
      uploaded_at: '2021-03-04T05:06:07.123Z',
    }),
  ]);
  expect((await rig.run(staged)).outcome.types.map(({ same }) => same)).toEqual([1, 1]);
});

test('plugins that cannot be taken over, or not run', async () => {
  const old = await bundleOf({ supported_python_versions: ['py36'] });
  const packed = zipOf([
    { name: 'x_plugin-3.0-py311-none-linux_x86_64.wgn', content: await wagon('3.0') },
    { name: 'plugin.yaml', content: yaml('3.0') },
  ]);
  const { told } = await rig.run([
    [
      'plugins',
      T,
      [
        await plugin(old, { package_version: 'old' }),
        await plugin(Buffer.from('x'), { package_version: 'bad' }),
        await plugin(Buffer.alloc(0), { package_version: 'none', archive: null }),
        await plugin(packed, { package_version: '3.0' }),
        await plugin(Buffer.alloc(0), {
          package_version: 'gone',
          archive: { digest: 'a'.repeat(64), size: 3 },
        }),
        { ...(await plugin(old)), id: 'no-uuid' },
      ],
    ],
  ]);
  expect(told).toEqual({
    'plugins/x-plugin old': 'imported wagon_not_runnable',
    'plugins/x-plugin bad': 'lost plugin_refused',
    'plugins/x-plugin none': 'lost archive_missing',
    'plugins/x-plugin gone': 'lost plugin_refused',
    'plugins/no-uuid': 'lost invalid',
  });
  const items = (await show('/plugins')).items as { package_version: string }[];
  expect(items.map(({ package_version: version }) => version).sort()).toEqual(['2.0', '3.0']);
});

async function bundleOf(changes: object): Promise<Buffer> {
  const about = {
    package_name: 'x-plugin',
    package_version: '2.0',
    archive_name: 'x_plugin-2.0-py36-none-linux_x86_64.wgn',
    supported_platform: 'linux_x86_64',
    ...changes,
  };
  const old = await tgzOf([{ name: 'x-plugin/package.json', content: JSON.stringify(about) }]);
  return zipOf([
    { name: 'plugin.yaml', content: yaml('2.0') },
    { name: 'x.wgn', content: old },
  ]);
}

test('objects of other tenants are never touched', async () => {
  const wide = await blueprint('wide', { visibility: 'global' });
  await rig.run([
    ['blueprints', T, [wide, await blueprint('own')]],
    ['plugins', T, [await plugin(await bundle('1.0'), { visibility: 'global' })]],
  ]);
  const { told } = await rig.run(
    [
      ['blueprints', 't2', [wide, await blueprint('own', { visibility: 'global' })]],
      ['plugins', 't2', [await plugin(await bundle('1.0'))]],
    ],
    { on_conflict: 'replace', blueprints: 'stored' },
  );
  expect(told).toEqual({
    'blueprints/wide': 'lost name_taken',
    'blueprints/own': 'imported visibility_narrowed',
    'plugins/x-plugin 1.0': 'lost name_taken',
  });
  expect((await catalog.call('GET', '/blueprints/own', { as: userOf('bob', 't2') })).body).toMatchObject({
    visibility: 'tenant',
  });
});

test('hostile records are lost, each by itself', async () => {
  const deep = JSON.parse(`${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`);
  const { outcome, told } = await rig.run([
    [
      'blueprints',
      T,
      [
        await blueprint('../up'),
        await blueprint('n'.repeat(300)),
        await blueprint('deep', { plan: deep }),
        await blueprint('list', { plan: [] }),
        await blueprint('wide', { visibility: 'everybody' }),
        await blueprint('labels', { labels: [{ key: 'k', value: 7 }] }),
        await blueprint('digest', { archive: { digest: '../../etc', size: 1 } }),
        { id: null },
        await blueprint('good'),
      ],
    ],
    [
      'blueprints_filters',
      T,
      [
        { id: 'mine', value: [{ key: 'env', values: ['prod'], operator: 'any_of', type: 'label' }] },
        { id: 'csys-x', value: [], is_system_filter: true },
        { id: 'bad', value: [{ key: 'env' }] },
      ],
    ],
  ]);
  expect(outcome.types[0]).toMatchObject({ read: 9, imported: 1, lost: 8 });
  expect(told).toMatchObject({
    'blueprints_filters/csys-x': 'skipped system_filter',
    'blueprints_filters/bad': 'lost invalid',
  });
  expect((await show('/filters/blueprints')).items).toEqual([expect.objectContaining({ id: 'mine' })]);
});

test('contents wait for the apply, and the sweep takes them after the import was discarded', async () => {
  const item = await blueprint('b');
  const { importId } = await rig.rehearse([['blueprints', T, [item]]]);
  const { digest } = item.archive as { digest: string };
  const age = async () => {
    await catalog.db.pool.query(`insert into loose_blobs (digest) values ($1) on conflict do nothing`, [
      digest,
    ]);
    await catalog.db.pool.query(`update loose_blobs set since = app_now() - interval '2 hours'`);
    await catalog.db.pool.query(`update archives set unpacked_at = app_now() - interval '2 hours'`);
  };
  const sweep = async () => catalog.parts.loops.find(({ name }) => name === 'blob-sweep')!.tickOnce();
  await age();
  await sweep();
  expect(await catalog.blobs.stat(digest)).not.toBeNull();
  await rig.discard(importId);
  await age();
  await sweep();
  expect(await catalog.blobs.stat(digest)).toBeNull();
});

test('a bundle of a tenant comes back the same', async () => {
  const icon = Buffer.concat([Buffer.from([0x89, 0x50, 0x4e, 0x47]), Buffer.alloc(90, 7)]).toString('base64');
  await rig.run([
    ['plugins', T, [await plugin(await bundle('1.0'))]],
    [
      'blueprints',
      T,
      [
        await blueprint('b', {
          icon,
          labels: [{ key: 'k', value: 'v' }],
          created_at: '2021-03-04T05:06:07.123Z',
        }),
      ],
    ],
    ['blueprints_filters', T, [{ id: 'mine', value: [] }]],
  ]);
  const types = await rig.exported({ tenant: T });
  const staged = Object.entries(types).map(([type, items]) => [type, 't2', items] as const);
  // Ids of plugins are unique in a manager, so this one stays where it is.
  expect((await rig.run(staged)).told).toMatchObject({
    'plugins/x-plugin 1.0': 'lost id_taken',
    'blueprints/b': 'imported plan_differs',
  });
  const back = await rig.exported({ tenant: 't2' });
  expect(back.blueprints).toEqual(types.blueprints);
  expect(back.blueprints_filters).toMatchObject([{ id: 'mine', value: [] }]);
});
