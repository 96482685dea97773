import { Readable } from 'node:stream';
import { importsOn, recordsOfEstate, type TestRecord, testRecord } from '@baton/import-part/testing';
import { newId } from '@baton/kernel';
import { startTestDeployments, type TestDeployments } from '../testing/test-deployments';
import { createImportTables } from './import-tables';

let service: TestDeployments;
let part: ReturnType<typeof importsOn>;
const types = createImportTables({ open: async () => Readable.from([]) }).importers.map(({ type }) => type);
const estate = recordsOfEstate();

beforeEach(async () => {
  service = await startTestDeployments();
  part = importsOn(service.parts.rpc, types);
});
afterEach(() => service.stop());

const get = async (path: string) => (await service.call('GET', path)).body;

test('takes all types of an estate over, and none of them twice', async () => {
  const { counts, fates } = await part.run(estate);
  expect(counts).toEqual({
    sites: { read: 3, imported: 3 },
    deployments: { read: 2, imported: 2 },
    deployment_groups: { read: 1, imported: 1 },
    nodes: { read: 2, imported: 2 },
    node_instances: { read: 2, imported: 2 },
    agents: { read: 1, imported: 1 },
    inter_deployment_dependencies: { read: 1, imported: 1 },
    deployment_updates: { read: 1, imported: 1 },
    plugins_update: { read: 1, imported: 1 },
    deployments_filters: { read: 1, imported: 1 },
    deployment_modifications: { read: 1, lost: 1 },
  });
  expect(fates.map(({ type, id, code }) => [type, id, code])).toEqual([
    ['deployment_modifications', 'mod', 'invalid'],
  ]);
  expect(await get('/deployments/web')).toMatchObject({ site_name: 'Zürich', deployment_groups: ['all'] });
  expect((await get('/deployment-groups/all')).deployment_ids).toEqual(['web', 'db']);
  expect((await get('/agents')).items).toMatchObject([
    { id: 'host_a1', state: 'restored', install_method: 'remote', ip: '10.0.0.5' },
  ]);
  expect((await get('/deployments/inter-deployment-dependencies')).items).toMatchObject([
    { source_deployment_id: 'web', target_deployment_id: 'db', dependency_creator: 'nodes.app.operations' },
  ]);
  expect((await get('/deployments/db')).labels).toContainEqual(
    expect.objectContaining({ key: 'csys-consumer-id', value: 'web' }),
  );
  expect((await get('/deployment-updates')).items).toMatchObject([
    { id: 'web-update', state: 'successful', steps: [{ action: 'add' }] },
  ]);
  expect((await get('/plugins-updates')).items).toMatchObject([
    { id: 'plug', state: 'successful', deployments_to_update: ['web'] },
  ]);
  expect(await get('/filters/deployments/prod')).toMatchObject({ id: 'prod' });

  const again = await part.run(estate);
  const same = Object.entries(again.counts).map(([type, of]) => [type, of.same ?? 0]);
  expect(same).toEqual(
    Object.entries(counts).map(([type, of]) => [type, (of as { imported?: number }).imported ?? 0]),
  );
});

test('keeps, skips or replaces what is here with other content, as the options say', async () => {
  await service.create('web');
  const refused = part.run(estate);
  await expect(refused).rejects.toMatchObject({ code: 'conflict_error' });
  expect((await get('/deployments/db')).error_code).toBe('not_found_error');

  const skipped = await part.run(estate, { options: { on_conflict: 'skip' } });
  expect(skipped.counts).toMatchObject({
    deployments: { read: 2, imported: 1, skipped: 1 },
    nodes: { read: 2, skipped: 2 },
    node_instances: { read: 2, skipped: 2 },
  });
  expect((await get('/deployments/web')).blueprint_id).toBe('mini');

  const replaced = await part.run(estate, { options: { on_conflict: 'replace' } });
  expect(replaced.counts).toMatchObject({
    deployments: { read: 2, replaced: 1, same: 1 },
    nodes: { read: 2, imported: 2 },
    node_instances: { read: 2, imported: 2 },
  });
  expect((await get('/deployments/web')).blueprint_id).toBe('shop');
  expect((await part.run(estate)).counts).toMatchObject({ deployments: { read: 2, same: 2 } });
});

test('a rehearsal leaves nothing and says what an import does', async () => {
  const rehearsed = await part.run(estate, { step: 'rehearse' });
  expect((await get('/deployments')).items).toEqual([]);
  expect((await part.run(estate)).counts).toEqual(rehearsed.counts);
});

const web = (): TestRecord[] =>
  estate.filter(({ tenant, type }) => tenant === 'default_tenant' && type !== 'agents');
const instance = (change: object): TestRecord =>
  testRecord('node_instances', {
    ...{ id: newId(), deployment_id: 'web', node_id: 'host', state: 'started', runtime_properties: {} },
    ...change,
  });

test('runtime properties arrive digit by digit, without credentials of agents', async () => {
  const properties = '{"big":12345678901234567890123,"tiny":1.10,"z":1,"a":{"__proto__":2}}';
  const exact: TestRecord = {
    type: 'node_instances',
    tenant: 'default_tenant',
    item: `{"id":"host_x","deployment_id":"web","node_id":"host","runtime_properties":${properties}}`,
  };
  const agent = instance({
    id: 'host_y',
    runtime_properties: {
      cloudify_agent: {
        name: 'host_y',
        ip: '10.0.0.6',
        install_method: 'remote',
        password: 'canary',
        broker_config: { broker_pass: 'canary' },
        nested: { agent_rest_token: 'canary', port: 22 },
      },
    },
  });
  const { fates } = await part.run([...web(), exact, agent]);
  expect(fates).toContainEqual(
    expect.objectContaining({ id: 'host_y', fate: 'imported', code: 'agent-credentials' }),
  );
  const { rows } = await service.db.pool.query(
    `select runtime_properties::text as text from node_instances where id = 'host_x'`,
  );
  expect(rows[0].text).toBe(properties);
  const { runtime_properties: kept } = await get('/node-instances/host_y');
  expect(kept).toEqual({
    cloudify_agent: { name: 'host_y', ip: '10.0.0.6', install_method: 'remote', nested: { port: 22 } },
  });
  const all = await service.db.pool.query(`select t::text as row from node_instances t`);
  expect(JSON.stringify(all.rows)).not.toContain('canary"');
});

test('hostile records are lost one by one, and the others are taken', async () => {
  await service.create('other');
  const foreign = (await get('/node-instances?deployment_id=other')).items[0].id;
  const { counts, fates, outcome } = await part.run([
    ...web(),
    instance({ id: foreign }),
    instance({ id: 'homeless', deployment_id: 'nowhere' }),
    instance({ id: 'nodeless', node_id: 'nothing' }),
    instance({ id: 'typed', index: 'one' }),
    instance({ id: 'untied', relationships: [7] }),
    instance({ id: 'wide', version: 2 ** 40 }),
    instance({ id: 'nul\u0000' }),
    instance({ id: 'loop_1', host_id: 'loop_2' }),
    instance({ id: 'loop_2', host_id: 'loop_1' }),
    instance({ id: 'large', runtime_properties: { text: 'x'.repeat(10_000_000) } }),
    testRecord('deployments', { id: 5 }),
    testRecord('sites', null),
    testRecord('inter_deployment_dependencies', {
      ...{ id: newId(), dependency_creator: 'x', source_deployment_id: 'web', target_deployment_id: 'gone' },
    }),
  ]);
  expect(counts.node_instances).toEqual({ read: 12, imported: 6, lost: 6 });
  const codes = new Map(fates.map(({ id, code }) => [id, code]));
  expect(Object.fromEntries(codes)).toMatchObject({
    [foreign]: 'foreign-instance',
    homeless: 'dangling',
    nodeless: 'dangling',
    typed: 'invalid',
    wide: 'not-storable',
  });
  expect(fates).toContainEqual(
    expect.objectContaining({ type: 'inter_deployment_dependencies', code: 'target-missing' }),
  );
  expect(outcome.notes).toContainEqual(expect.stringContaining('loop_1, loop_2'));
  expect(await get('/node-instances/loop_1')).toMatchObject({ host_id: null });
  expect((await get('/node-instances/large')).runtime_properties.text).toHaveLength(10_000_000);
  expect(await get(`/node-instances/${foreign}`)).toMatchObject({ deployment_id: 'other' });
});

test('parents of the archive become edges, and a cycle of them is cut', async () => {
  const child = (id: string, parent: string): TestRecord =>
    testRecord('deployments', {
      ...{ id, created_by: 'admin', labels: [{ key: 'csys-obj-parent', value: parent }] },
    });
  const { outcome } = await part.run([
    testRecord('deployments', { id: 'top' }),
    child('under', 'top'),
    child('lost', 'nobody'),
    child('round-1', 'round-2'),
    child('round-2', 'round-1'),
  ]);
  expect(await get('/deployments/top')).toMatchObject({ sub_services_count: 1 });
  expect(outcome.notes).toEqual(
    expect.arrayContaining([
      expect.stringContaining('lost -> nobody'),
      expect.stringContaining('round-1, round-2'),
    ]),
  );
});

test('a tenant goes to another manager as records, and comes back as the same records', async () => {
  await part.run(estate);
  await service.create('native', { labels: [{ 'csys-obj-parent': 'web' }], blueprint_id: 'pair' });
  const first = await part.exported('default_tenant');
  const other = await startTestDeployments();
  try {
    const otherPart = importsOn(other.parts.rpc, types);
    const { fates } = await otherPart.run(first);
    expect(fates.filter(({ fate }) => fate !== 'imported')).toEqual([]);
    expect(await otherPart.exported('default_tenant')).toEqual(first);
    const one = await otherPart.exported('default_tenant', 'native');
    expect([...new Set(one.map(({ type }) => type))]).toEqual(['deployments', 'nodes', 'node_instances']);
    expect(one).toEqual(first.filter(({ item }) => item.includes('"native"') && !item.includes('consumer')));
  } finally {
    await other.stop();
  }
});

test('working folders wait for the catalog, which unpacks them', async () => {
  const content = Buffer.from('a zip, for the catalog to judge');
  const { digest, size } = await service.blobs.put(Readable.from([content]));
  const deployment = (id: string, workdir: object): TestRecord =>
    testRecord('deployments', { id, created_by: 'admin', workdir });
  const { fates } = await part.run([
    deployment('kept', { digest, size, name: 'kept.zip' }),
    deployment('gone', { digest: digest.replace(/./g, '0'), size, name: 'gone.zip' }),
    deployment('large', { digest, size: 2 ** 40, name: 'large.zip' }),
  ]);
  expect(fates).toMatchObject([{ id: 'large', fate: 'imported', code: 'workdir-too-large' }]);
  const { rows } = await service.db.pool.query(
    'select d.id, w.archive from waiting_workdirs w join deployments d on d.key = w.deployment_key',
  );
  expect(rows).toEqual([{ id: 'kept', archive: content }]);
});

test('an object that was made under the name of a deleted one is not taken for it', async () => {
  await part.run(estate);
  await service.db.pool.query(`delete from deployments where id = 'db'`);
  await service.create('db');
  await expect(part.run(estate)).rejects.toMatchObject({ code: 'conflict_error' });
});
