import { request } from 'node:http';
import { tgzOf, zipOf } from './testing/archives';
import { admin, startCatalog, type TestCatalog, userOf } from './testing/catalog-setup';

let catalog: TestCatalog;
let call: TestCatalog['call'];
const octets = 'application/octet-stream';
const LARGE = Buffer.from(Array.from({ length: 100_000 }, (_, i) => i % 251));
const PNG = Buffer.from([0x89, 0x50, 0x4e, 0x47, 1, 2, 3]);
const archive = tgzOf([
  { name: 'bp/blueprint.yaml', content: 'tosca_definitions_version: cloudify_dsl_1_4\ninputs: {}\n' },
  { name: 'bp/README.md', content: '# Hello' },
  { name: 'bp/scripts/a b.sh', content: 'echo a' },
  { name: 'bp/scripts/deep/large.bin', content: LARGE },
  { name: 'bp/page.html', content: '<script>alert(1)</script>' },
]);
const packageJson = JSON.stringify({
  package_name: 'p',
  package_version: '1.0',
  archive_name: 'p-1.0-py311-none-any.wgn',
  wheels: [],
  supported_platform: 'any',
});
const wagon = tgzOf([{ name: 'p/package.json', content: packageJson }]);
const yaml = 'plugins:\n  p: {executor: host_agent, package_name: p, package_version: "1.0"}\n';

const permissions = ['blueprint_upload', 'file_server_auth', 'plugin_download'];
const member = (name: string, tenant = 'default_tenant') => ({ ...userOf(name, tenant), permissions });
/** The principal that the gateway sends for a user of another tenant who names this tenant in the path. */
const stranger = (name: string) => ({
  ...userOf(name),
  permissions: [],
  tenants: [{ name: 'elsewhere', roles: ['user'] }],
});
const of = (id: string, path: string) => `/resources/blueprints/default_tenant/${id}/${path}`;

let pluginId: string;
beforeAll(async () => {
  catalog = await startCatalog();
  ({ call } = catalog);
  const put = async (id: string, query: string, as = admin) =>
    expect(
      (await call('PUT', `/blueprints/${id}?${query}`, { raw: await archive, contentType: octets, as }))
        .status,
    ).toBe(201);
  await put('plain', '');
  await put('everywhere', 'visibility=global');
  await put('mine', 'visibility=private', member('alice'));
  const zip = zipOf([
    { name: 'p.wgn', content: await wagon },
    { name: 'plugin.yaml', content: yaml },
    { name: 'icon.png', content: PNG },
  ]);
  catalog.known.set('default_tenant/d', '').set('default_tenant/hers', 'alice');
  pluginId = (await call('POST', '/plugins', { raw: zip, contentType: octets })).body.id;
});
afterAll(() => catalog.close());

describe('blueprints', () => {
  it('gives files, small and large, with validators, type and sandbox', async () => {
    const readme = await call('GET', of('plain', 'README.md'), { as: member('bob') });
    expect(readme).toMatchObject({ status: 200 });
    expect(readme.bytes.toString()).toBe('# Hello');
    expect(Object.fromEntries(readme.headers)).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'content-length': '7',
      'accept-ranges': 'bytes',
      etag: expect.stringMatching(/^"[0-9a-f]{64}"$/),
    });
    expect(Date.parse(readme.headers.get('last-modified')!)).not.toBeNaN();
    const large = await call('GET', of('plain', 'scripts/deep/large.bin'));
    expect(large.bytes.equals(LARGE)).toBe(true);
    expect((await call('GET', of('plain', 'scripts/a%20b.sh'))).bytes.toString()).toBe('echo a');
    const page = await call('GET', of('plain', 'page.html'));
    expect(page.headers.get('content-security-policy')).toMatch(/^sandbox/);
  });

  it('a folder is its files with their times, on either way', async () => {
    const root = await call('GET', of('plain', ''));
    expect(Object.keys(root.body).sort()).toEqual([
      'README.md',
      'blueprint.yaml',
      'page.html',
      'scripts/a b.sh',
      'scripts/deep/large.bin',
    ]);
    const scripts = await call('GET', of('plain', 'scripts/'));
    expect(scripts.body).toEqual({
      'a b.sh': expect.stringMatching(/^\d{4}-.*Z$/),
      'deep/large.bin': expect.stringMatching(/Z$/),
    });
    expect((await call('GET', of('plain', 'scripts/.cloudify-index.json'))).body).toEqual(scripts.body);
    expect((await call('GET', of('plain', 'script/'))).status).toBe(404);
    expect((await call('GET', of('plain', 'scripts'))).status).toBe(404);
  });

  it('gives the icon by itself: an image with its validator, to whom the blueprint is shown', async () => {
    expect((await call('GET', '/blueprints/everywhere/icon')).status).toBe(404);
    expect((await call('GET', '/blueprints/everywhere')).body.has_icon).toBe(false);
    // The file begins like a PNG and continues with other content.
    const hostile = Buffer.concat([PNG, Buffer.from('<script>alert(1)</script>')]);
    await call('PATCH', '/blueprints/everywhere/icon', { raw: hostile, contentType: octets });
    const icon = await call('GET', '/blueprints/everywhere/icon');
    expect(icon.bytes.equals(hostile)).toBe(true);
    expect(icon.headers.get('content-type')).toBe('image/png');
    expect(icon.headers.get('content-security-policy')).toContain('sandbox');
    const headers = { 'if-none-match': icon.headers.get('etag')! };
    expect((await call('GET', '/blueprints/everywhere/icon', { headers })).status).toBe(304);
    expect((await call('GET', '/blueprints?_include=id,has_icon&id=everywhere')).body.items).toEqual([
      { id: 'everywhere', has_icon: true },
    ]);
    await call('PATCH', '/blueprints/mine/icon', { raw: PNG, contentType: octets, as: member('alice') });
    expect((await call('GET', '/blueprints/mine/icon', { as: userOf('bob') })).status).toBe(404);
    const elsewhere = { as: userOf('eve', 'elsewhere') };
    expect((await call('GET', '/blueprints/everywhere/icon', elsewhere)).status).toBe(200);
  });

  it('shows the icon that was set, and its new validator when it changes', async () => {
    expect((await call('GET', of('plain', 'icon.png'))).status).toBe(404);
    await call('PATCH', '/blueprints/plain/icon', { raw: PNG, contentType: octets });
    const icon = await call('GET', of('plain', 'icon.png'));
    expect(icon.bytes.equals(PNG)).toBe(true);
    expect(icon.headers.get('content-type')).toBe('image/png');
    expect((await call('GET', of('plain', ''))).body).toHaveProperty(['icon.png']);
    await call('PATCH', '/blueprints/plain/icon', { raw: Buffer.concat([PNG, PNG]), contentType: octets });
    expect((await call('GET', of('plain', 'icon.png'))).headers.get('etag')).not.toBe(
      icon.headers.get('etag'),
    );
  });

  it('who sees what: members, owners, strangers', async () => {
    const status = async (id: string, as: ReturnType<typeof userOf>) =>
      (await call('GET', of(id, 'README.md'), { as })).status;
    expect(await status('mine', member('alice'))).toBe(200);
    expect(await status('mine', member('bob'))).toBe(404);
    expect(await status('mine', { ...member('boss'), permissions: [...permissions, 'administrators'] })).toBe(
      200,
    );
    expect(await status('everywhere', stranger('eve'))).toBe(200);
    expect(await status('plain', stranger('eve'))).toBe(403);
    // The answer is the same as for a blueprint that exists.
    expect(await status('nosuch', stranger('eve'))).toBe(403);
    expect(await status('nosuch', member('bob'))).toBe(404);
    expect(await status('plain', { ...member('bob'), permissions: [] })).toBe(403);
    // Only the tenant of the path counts: no blueprint of the same name in another tenant, no different tenant header.
    expect(
      (await call('GET', '/resources/blueprints/other/plain/README.md', { as: member('bob') })).status,
    ).toBe(404);
  });

  it.each(['../README.md', '%2e%2e/x', '..%2f..%2fetc%2fpasswd', '..%5cx', '/etc/passwd', 'a/../../x'])(
    '%s leads nowhere',
    async (path) => expect(await rawStatus(of('plain', path))).toBe(404),
  );

  it('a path that no file can have is refused', async () =>
    expect(await rawStatus(of('plain', '%00'))).toBe(400));
});

it('uploaded blueprints: the archive under its own name only, not for strangers', async () => {
  const path = '/resources/uploaded-blueprints/default_tenant/everywhere/everywhere';
  const got = await call('GET', `${path}.tar.gz`, { as: member('bob') });
  expect(got.bytes.equals(await archive)).toBe(true);
  expect((await call('GET', `${path}.zip`, { as: member('bob') })).status).toBe(404);
  expect((await call('GET', `${path}.tar.gz`, { as: stranger('eve') })).status).toBe(403);
});

it('plugins: wagon, yaml files and icon, and their names', async () => {
  const base = `/resources/plugins/${pluginId}`;
  const names = (await call('GET', `${base}/`)).body;
  expect(Object.keys(names)).toEqual(['p-1.0-py311-none-any.wgn', 'plugin.yaml', 'icon.png']);
  const icon = await call('GET', `${base}/icon.png`);
  expect(icon.bytes.equals(PNG)).toBe(true);
  expect(icon.headers.get('content-type')).toBe('image/png');
  expect((await call('GET', `${base}/p-1.0-py311-none-any.wgn`)).bytes.equals(await wagon)).toBe(true);
  expect((await call('GET', `${base}/plugin.yaml`)).bytes.toString()).toBe(yaml);
  expect((await call('GET', `${base}/other.yaml`)).status).toBe(404);
  expect((await call('GET', `${base}/plugin.yaml`, { as: member('eve', 'elsewhere') })).status).toBe(404);
});

describe('GET /file-server-auth', () => {
  const ask = async (uri: string | null, as: ReturnType<typeof userOf>, method?: string) =>
    (
      await call('GET', '/file-server-auth', {
        as,
        headers: {
          ...(uri === null ? {} : { 'x-original-uri': uri }),
          ...(method === undefined ? {} : { 'x-original-method': method }),
        },
      })
    ).status;
  const nowhere = { ...userOf('eve', ''), permissions: [] };

  it.each([
    ['/resources/blueprints/default_tenant/plain/x', 200, 403],
    ['/resources/blueprints/default_tenant/everywhere/x', 200, 200],
    ['/resources/blueprints/default_tenant/mine/x', 403, 403],
    ['/resources/blueprints/default_tenant/nosuch/x', 403, 403],
    ['/resources/uploaded-blueprints/default_tenant/everywhere/x', 200, 403],
    ['/resources/deployments/default_tenant/d/x', 200, 403],
    ['/resources/deployments/default_tenant/hers/x', 403, 403],
    ['/resources/deployments/default_tenant/nosuch/x', 403, 403],
    ['/resources/tenant-resources/default_tenant/x', 200, 403],
    ['/resources/blueprints/default_tenant/../other/x', 403, 403],
    ['/resources/snapshots/s/s.zip', 403, 403],
    ['/elsewhere', 403, 403],
  ])('%s: %i to a member, %i to a stranger', async (uri, toMember, toStranger) => {
    expect(await ask(uri, member('bob'))).toBe(toMember);
    expect(await ask(uri, stranger('eve'))).toBe(toStranger);
  });

  it('writing wants the right of the area, in all of them; blueprints are never written', async () => {
    const writer = { ...member('bob'), permissions: [...permissions, 'deployment_update'] };
    const ofExecution = { ...member('bob'), permissions: [], executionId: 'e' };
    const at = (area: string) => `/resources/${area}/default_tenant/d/x`;
    expect(await ask(at('deployments'), writer, 'PUT')).toBe(200);
    expect(await ask(at('deployments'), ofExecution, 'DELETE')).toBe(200);
    expect(await ask(at('deployments'), member('bob'), 'PUT')).toBe(403);
    expect(await ask(at('tenant-resources'), member('bob'), 'POST')).toBe(200);
    expect(await ask(at('tenant-resources'), ofExecution, 'POST')).toBe(403);
    expect(await ask(at('blueprints'), admin, 'PUT')).toBe(403);
    expect(await ask(at('deployments'), writer, 'PATCH')).toBe(403);
  });

  it('global resources: read by everybody, written with the right to; the header is needed', async () => {
    const maker = { ...nowhere, permissions: ['create_global_resource'] };
    expect(await ask('/resources/global-resources/x', maker, 'PUT')).toBe(200);
    expect(await ask('/resources/global-resources/x', nowhere)).toBe(200);
    expect(await ask('/resources/global-resources/x', nowhere, 'head')).toBe(200);
    expect(await ask('/resources/global-resources/x', nowhere, 'PUT')).toBe(403);
    expect(await ask(null, nowhere)).toBe(400);
  });
});

/** Requests a path unchanged; `fetch` would normalize it. */
function rawStatus(path: string): Promise<number> {
  return catalog.signed(admin).then(
    ({ url, headers }) =>
      new Promise((resolve, reject) => {
        const { hostname, port } = new URL(url);
        const sent = request({ hostname, port, path: `/api/v3.1${path}`, headers }, (response) => {
          response.resume();
          resolve(response.statusCode!);
        });
        sent.on('error', reject);
        sent.end();
      }),
  );
}
