import { blueprintTgz, tgzOf, zipOf } from './testing/archives';
import { admin, startCatalog, type TestCatalog, userOf } from './testing/catalog-setup';
import { bundle, wagon, yaml } from './testing/plugin-archives';

let catalog: TestCatalog;
let call: TestCatalog['call'];
beforeAll(async () => {
  catalog = await startCatalog();
  ({ call } = catalog);
});
afterAll(() => catalog.close());

const octets = 'application/octet-stream';
const post = (raw: Buffer, query = '', as = admin) =>
  call('POST', `/plugins${query}`, { raw, contentType: octets, as });

let id: string;
it('uploads wagon and yaml and gives both back', async () => {
  const zip = await bundle('1.2.3', {
    'plugin.yaml': yaml('1.2.3', 'labels: {os: {values: [linux]}}\n'),
    'plugin_1_5.yaml': yaml('1.2.3', 'data_types: {}\n'),
  });
  const answer = await post(zip, '?title=X');
  expect(answer.status).toBe(201);
  id = answer.body.id;
  expect(answer.body).toMatchObject({
    title: 'X',
    package_name: 'x-plugin',
    package_version: '1.2.3',
    package_source: 'x-plugin==1.2.3',
    supported_py_versions: ['py311'],
    distribution: 'debian',
    distribution_release: 'bookworm',
    wheels: ['x.whl'],
    excluded_wheels: null,
    labels: { os: ['linux'] },
    installation_state: [],
    tenant_name: 'default_tenant',
    yaml_url_path: 'plugin:x-plugin?version=1.2.3&distribution=debian',
    yaml_files_paths: [`plugins/${id}/plugin.yaml`, `plugins/${id}/plugin_1_5.yaml`],
  });
  expect((await call('GET', `/plugins/${id}/archive`)).bytes.equals(await wagon('1.2.3'))).toBe(true);
  expect((await call('GET', `/plugins/${id}/archive?full_archive=true`)).bytes.equals(zip)).toBe(true);
  const newer = await call('GET', `/plugins/${id}/yaml?dsl_version=cloudify_dsl_1_5`);
  expect(newer.bytes.toString()).toContain('data_types');
  expect(newer.headers.get('content-disposition')).toBe('attachment; filename="plugin_1_5.yaml"');
  expect(Number(newer.headers.get('content-length'))).toBe(newer.bytes.length);
  expect(
    (await call('GET', `/plugins/${id}/yaml?dsl_version=cloudify_dsl_1_4`)).bytes.toString(),
  ).not.toContain('data_types');
  expect((await post(zip)).body.error_code).toBe('conflict_error');
});

it('takes a wagon alone in a zip', async () => {
  const zip = await zipOf([{ name: 'a.wgn', content: await wagon('0.1.1') }]);
  const answer = await post(zip);
  const { labels, yaml_files_paths, yaml_url_path } = answer.body;
  expect([answer.status, labels, yaml_files_paths, yaml_url_path]).toEqual([201, null, [], '']);
  expect((await call('DELETE', `/plugins/${answer.body.id}`, { json: { force: true } })).status).toBe(204);
});

it.each<[string, () => Promise<Buffer> | Buffer, RegExp]>([
  ['rubbish', () => Buffer.from('notawagon'), /not an archive/],
  ['a tar without package.json', () => tgzOf([{ name: 'a/b' }]), /no wagon/],
  ['a zip without a wagon', () => zipOf([{ name: 'plugin.yaml', content: yaml('1') }]), /no wagon/],
  [
    'a zip with two',
    async () =>
      zipOf([
        { name: 'a.wgn', content: await wagon('1') },
        { name: 'b.wgn', content: await wagon('2') },
      ]),
    /more than one/,
  ],
  ['another version in the yaml', () => bundle('9.9', { 'plugin.yaml': yaml('9.8') }), /9\.8.*9\.9/],
  ['yaml that is none', () => bundle('9.9', { 'plugin.yaml': 'plugins: [' }), /plugin\.yaml:1:/],
  [
    'malformed labels',
    () => bundle('9.9', { 'plugin.yaml': yaml('9.9', 'labels: {os: linux}\n') }),
    /label os/,
  ],
  [
    'a name that leads out',
    async () =>
      zipOf([
        { name: '../plugin.yaml', content: yaml('1') },
        { name: 'a.wgn', content: await wagon('1') },
      ]),
    /leads out/,
  ],
])('refuses %s', async (_what, make, reason) => {
  const answer = await post(await make());
  expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_plugin_error']);
  expect(answer.body.message).toMatch(reason);
});

it('blueprints import the highest version that fits; used ones are not deleted without force', async () => {
  const newer = (await post(await bundle('1.10.0'))).body.id;
  const using = async (name: string, version: string) =>
    call('PUT', `/blueprints/${name}`, {
      contentType: octets,
      raw: await blueprintTgz({
        'blueprint.yaml': `tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml, "plugin:x-plugin?version=${version}"]\nnode_types:\n  mine: {derived_from: x.Node, interfaces: {i: {go: x.m.go}}}\nnode_templates:\n  n: {type: mine}\n`,
      }),
    });
  const high = await using('high', '>=1.2,<2');
  expect([high.status, high.body.diagnostics]).toEqual([201, undefined]);
  expect(high.body.plan.nodes[0].properties.from).toBe('1.10.0');
  expect((await using('low', '1.2.3')).body.plan.nodes[0].properties.from).toBe('1.2.3');
  expect((await using('none', '3.0')).body.error_code).toBe('invalid_blueprint_error');
  const refused = await call('DELETE', `/plugins/${newer}`);
  expect([refused.status, refused.body.error_code, refused.body.blueprints]).toEqual([
    405,
    'plugin_in_use',
    ['high'],
  ]);
  expect((await call('DELETE', `/plugins/${newer}`, { json: { force: true } })).status).toBe(204);
  expect((await call('DELETE', `/plugins/${newer}`)).status).toBe(404);
  const found = await catalog.rpc.findPlugins({
    tenant: 'default_tenant',
    queries: [{ packageName: 'x-plugin', packageVersion: '1.2.3' }, { packageName: 'nosuch' }],
  });
  expect(found.plugins).toEqual([expect.objectContaining({ id, packageVersion: '1.2.3' })]);
});

it('makes the yaml for blueprints of version 1_3 where the author wrote none', async () => {
  const newer = `  x.Picky: {properties: {where: {type: deployment_id, default: ''}}}
workflows:
  poke:
    mapping: x.m.poke
    parameters: {ids: {type: list, item_type: string, default: []}, where: {type: node_id, default: '', constraints: []}}
    availability_rules: {node_instances_active: [all]}
`;
  const posted = await post(await bundle('5.0.0', { 'plugin.yaml': yaml('5.0.0') + newer }));
  const pluginId = posted.body.id;
  expect(posted.body.yaml_files_paths).toEqual([
    `plugins/${pluginId}/plugin.yaml`,
    `plugins/${pluginId}/plugin_1_3.yaml`,
  ]);
  const workflowOf = async (version: string) => {
    const raw = await blueprintTgz({
      'blueprint.yaml': `tosca_definitions_version: cloudify_dsl_${version}\nimports: [cloudify/types/types.yaml, "plugin:x-plugin?version=5.0.0"]\nnode_templates:\n  n: {type: x.Picky}\n`,
    });
    const { body } = await call('PUT', `/blueprints/of-${version}`, { contentType: octets, raw });
    return body.plan.workflows.poke;
  };
  expect(await workflowOf('1_3')).toMatchObject({
    parameters: { where: { type: 'string', default: '' } },
    availability_rules: null,
  });
  expect(await workflowOf('1_4')).toMatchObject({
    parameters: { where: { type: 'node_id' }, ids: { item_type: 'string' } },
    availability_rules: { node_instances_active: ['all'] },
  });
  expect((await call('DELETE', `/plugins/${pluginId}`, { json: { force: true } })).status).toBe(204);
});

it('plugins updates: a hidden copy with other versions, taken over by the blueprint or dropped', async () => {
  const raw = await blueprintTgz({
    'blueprint.yaml':
      'tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml, "plugin:x-plugin?version=1.2.3"]\nnode_types:\n  mine: {derived_from: x.Node, interfaces: {i: {go: x.m.go}}}\nnode_templates:\n  n: {type: mine}\n',
  });
  const blueprintId = 'updatable';
  expect((await call('PUT', `/blueprints/${blueprintId}`, { contentType: octets, raw })).status).toBe(201);
  const of = { tenant: 'default_tenant', blueprintId, tempBlueprintId: 'updatable-1' };
  const prepare = (selection: object) =>
    catalog.rpc.preparePluginsUpdate({
      ...of,
      selectionJson: JSON.stringify(selection),
      username: 'admin',
      isAdministrator: true,
    });
  expect(await prepare({ all_to_latest: false })).toEqual({ isChanged: false });
  await expect(prepare({ mapping: { 'x-plugin': '9' } })).rejects.toMatchObject({
    code: 'bad_parameters_error',
  });
  const newer = (await post(await bundle('1.3.0'))).body.id;
  expect(await prepare({})).toEqual({ isChanged: true });
  expect(await prepare({})).toEqual({ isChanged: true });
  const shown = async (id: string) => (await call('GET', `/blueprints/${id}`)).body;
  const from = async (id: string) => (await shown(id)).plan.nodes[0].properties.from;
  expect([await from(blueprintId), await from(of.tempBlueprintId)]).toEqual(['1.2.3', '1.3.0']);
  expect((await shown(of.tempBlueprintId)).is_hidden).toBe(true);
  expect((await call('GET', '/blueprints?id=updatable-1')).body.items).toEqual([]);

  await catalog.rpc.adoptPluginsUpdate(of);
  await catalog.rpc.dropPluginsUpdate({ ...of, isKept: false });
  await catalog.rpc.adoptPluginsUpdate(of);
  await catalog.rpc.dropPluginsUpdate({ ...of, isKept: false });
  expect(await from(blueprintId)).toBe('1.3.0');
  expect((await call('GET', '/blueprints/updatable-1')).status).toBe(404);
  const inUse = await call('DELETE', `/plugins/${newer}`);
  expect(inUse.body.blueprints).toEqual([blueprintId]);
  expect(await prepare({})).toEqual({ isChanged: false });

  const back = { ...of, tempBlueprintId: 'updatable-2' };
  await catalog.rpc.preparePluginsUpdate({
    ...back,
    selectionJson: JSON.stringify({ mapping: { 'x-plugin': '1.2.3' } }),
    username: 'admin',
    isAdministrator: true,
  });
  await catalog.rpc.dropPluginsUpdate({ ...back, isKept: true });
  expect((await call('GET', '/blueprints?id=updatable-2')).body.items).toHaveLength(1);
  expect(await from(blueprintId)).toBe('1.3.0');
});

it('keeps private ones to their creator and takes a bare wagon', async () => {
  const ann = userOf('ann');
  const own = (await post(await wagon('7.0'), '?visibility=private', ann)).body;
  expect(own).toMatchObject({ visibility: 'private', yaml_files_paths: [], title: 'x-plugin' });
  expect((await call('GET', `/plugins/${own.id}`, { as: userOf('bob') })).status).toBe(404);
  expect(
    (await call('GET', '/plugins?package_version=7.0', { as: userOf('bob') })).body.metadata.pagination.total,
  ).toBe(0);
  expect((await call('GET', '/plugins/nosuch')).status).toBe(404);
});

it('knows the action install, and changes of what the plugin gives', async () => {
  expect((await call('POST', `/plugins/${id}`, { json: { action: 'rubbish' } })).body.error_code).toBe(
    'unknown_action',
  );
  const asked = await call('POST', `/plugins/${id}`, { json: { action: 'install', managers: ['m1'] } });
  expect(asked.body.installation_state).toEqual([{ manager: 'm1', state: 'pending-install', error: null }]);
  expect(
    (await call('PATCH', `/plugins/${id}`, { json: { labels: { a: { values: ['b'] } } } })).body.labels,
  ).toEqual({ a: { values: ['b'] } });
  expect((await call('PATCH', `/plugins/${id}`, { json: { labels: 5 } })).body.error_code).toBe(
    'bad_parameters_error',
  );
  // A PATCH that changes nothing is no error, unlike for blueprints, deployments and secrets.
  expect((await call('PATCH', `/plugins/${id}`, { json: {} })).status).toBe(200);
  expect((await call('PATCH', `/plugins/${id}`, { json: { package_name: 'y' } })).body.package_name).toBe(
    'x-plugin',
  );
  expect(
    (await call('PATCH', `/plugins/${id}/set-visibility`, { json: { visibility: 'global' } })).body
      .visibility,
  ).toBe('global');
});
