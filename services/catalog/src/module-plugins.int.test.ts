// Uploads of TypeScript plugins (.bplug): what is read from them, and what is refused.
import { blueprintTgz, type TestEntry, tarOf, tgzOf, zipOf } from './testing/archives';
import { admin, startCatalog, type TestCatalog } from './testing/catalog-setup';
import { moduleEntries, moduleYaml, wagon } from './testing/plugin-archives';

let catalog: TestCatalog;
let call: TestCatalog['call'];
beforeAll(async () => {
  catalog = await startCatalog();
  ({ call } = catalog);
});
afterAll(() => catalog.close());

const contentType = 'application/octet-stream';
const post = (raw: Buffer) => call('POST', '/plugins', { raw, contentType, as: admin });

it('a bare .bplug gives its package, its yaml and its bytes back, and blueprints import it', async () => {
  const bplug = await tgzOf(moduleEntries({}, { 'files/package.json': '{}', 'files/a/t.conf': 'x' }));
  const posted = await post(bplug);
  expect(posted.status).toBe(201);
  const { id } = posted.body;
  expect(posted.body).toMatchObject({
    package_name: 'dns',
    package_version: '1.2.0',
    package_source: 'dns==1.2.0',
    archive_name: 'dns-1.2.0.bplug',
    supported_platform: 'any',
    wheels: null,
    yaml_files_paths: [`plugins/${id}/plugin.yaml`],
  });
  const archive = await call('GET', `/plugins/${id}/archive`);
  expect(archive.bytes.equals(bplug)).toBe(true);
  expect(archive.headers.get('content-disposition')).toBe('attachment; filename="dns-1.2.0.bplug"');
  const put = await call('PUT', '/blueprints/zone', {
    contentType,
    raw: await blueprintTgz({
      'blueprint.yaml':
        'tosca_definitions_version: cloudify_dsl_1_4\nimports: [cloudify/types/types.yaml, "plugin:dns"]\nnode_types:\n  mine: {derived_from: dns.nodes.Record, interfaces: {i: {go: dns.dns.nodes.Record.create}}}\nnode_templates:\n  n: {type: mine}\n',
    }),
  });
  expect(put.body.plan.nodes[0].properties.from).toBe('1.2.0');
  const { plugins } = await catalog.rpc.findPlugins({
    tenant: 'default_tenant',
    queries: [{ packageName: 'dns' }],
  });
  expect(plugins).toEqual([expect.objectContaining({ id, archiveName: 'dns-1.2.0.bplug' })]);
  expect((await post(bplug)).body.error_code).toBe('conflict_error');
});

it('in the zip of older clients the yaml files beside it are those that blueprints read', async () => {
  const version = '2.0.0';
  const zip = zipOf([
    { name: 'dns.bplug', content: await tgzOf(moduleEntries({ version })) },
    { name: 'plugin.yaml', content: `${moduleYaml('dns', version)}labels: {os: {values: [linux]}}\n` },
  ]);
  const posted = await post(zip);
  expect([posted.status, posted.body.labels]).toEqual([201, { os: ['linux'] }]);
  const yaml = await call('GET', `/plugins/${posted.body.id}/yaml?dsl_version=cloudify_dsl_1_4`);
  expect(yaml.bytes.toString()).toContain('labels');
  const alone = await post(
    zipOf([{ name: 'a.bplug', content: await tgzOf(moduleEntries({ version: '3.0.0' })) }]),
  );
  expect(alone.body.yaml_files_paths).toEqual([`plugins/${alone.body.id}/plugin.yaml`]);
});

const tgz = (manifest: Record<string, unknown>, changes: Record<string, string | undefined> = {}) =>
  tgzOf(moduleEntries(manifest, changes));
const withEntry = (...entries: TestEntry[]) => tgzOf([...moduleEntries(), ...entries]);

it.each<[string, () => Promise<Buffer> | Buffer, RegExp]>([
  ['another format', () => tgz({ format: 2 }), /format 2 .*not known/],
  ['a name that is a path', () => tgz({ name: '../x' }), /name is .*\.\.\/x/],
  ['a version that is none', () => tgz({ version: 'latest' }), /version is .*latest/],
  ['another main file', () => tgz({ main: 'files/x.js' }), /main is .*files\/x\.js/],
  ['secrets that are no names', () => tgz({ secrets: [{ all: true }] }), /secrets is/],
  ['a manifest that is no JSON', () => tgz({}, { 'plugin.json': '{' }), /plugin\.json: it is not JSON/],
  ['no yaml', () => tgz({}, { 'plugin.yaml': undefined }), /has no plugin\.yaml/],
  ['no code', () => tgz({}, { 'index.js': undefined }), /has no index\.js/],
  ['yaml of another package', () => tgz({}, { 'plugin.yaml': moduleYaml('other', '1.2.0') }), /is other 1/],
  ['a native addon', () => tgz({}, { 'files/b/addon.NODE': 'x' }), /native addon.*files\/b\/addon\.NODE/],
  ['another entry', () => tgz({}, { 'node_modules/x.js': 'x' }), /does not belong.*node_modules\/x\.js/],
  ['two manifests', () => withEntry({ name: 'plugin.json', content: '{}' }), /twice.*plugin\.json/],
  ['a symbolic link', () => withEntry({ name: 'files/l', type: 'symlink', link: '/etc/passwd' }), /no links/],
  ['a hard link', () => withEntry({ name: 'files/l', type: 'link', link: 'index.js' }), /no links/],
  ['a device', () => withEntry({ name: 'files/d', type: 'character-device' }), /neither file/],
  ['a path that leads out', () => withEntry({ name: 'files/../../x', content: 'x' }), /leads out/],
  ['an absolute path', () => withEntry({ name: '/etc/x', content: 'x' }), /absolute/],
  [
    'a bomb',
    () => withEntry({ name: 'files/zeros', content: Buffer.alloc(64 * 1024 * 1024) }),
    /unpacks to more than|holds more than/,
  ],
  ['a tar that is not packed', () => tarOf(moduleEntries()), /is a tar\.gz/],
  [
    'a zip with a wagon and a plugin',
    async () =>
      zipOf([
        { name: 'a.bplug', content: await tgzOf(moduleEntries()) },
        { name: 'b.wgn', content: await wagon('1') },
      ]),
    /more than one/,
  ],
  [
    'a zip whose yaml names another package',
    async () =>
      zipOf([
        { name: 'a.bplug', content: await tgzOf(moduleEntries()) },
        { name: 'plugin.yaml', content: moduleYaml('dns', '9.9.9') },
      ]),
    /dns 9\.9\.9.*dns 1\.2\.0/,
  ],
])('refuses %s', async (_what, make, reason) => {
  const answer = await post(await make());
  expect([answer.status, answer.body.error_code]).toEqual([400, 'invalid_plugin_error']);
  expect(answer.body.message).toMatch(reason);
});
