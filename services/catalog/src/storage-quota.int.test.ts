import { randomBytes } from 'node:crypto';
import { eventually } from '@baton/testkit';
import { tgzOf } from './testing/archives';
import { startCatalog, type TestCatalog, userOf } from './testing/catalog-setup';

const LIMIT = 1_000_000;
const MAIN =
  'tosca_definitions_version: cloudify_dsl_1_4\nnode_types:\n  root: {}\nnode_templates:\n  web: {type: root}\n';

let catalog: TestCatalog;
beforeAll(async () => {
  catalog = await startCatalog({ limits: { storageBytes: LIMIT } });
});
afterAll(() => catalog.close());

const upload = async (id: string, bytes: number, query = '', tenant = 'default_tenant') =>
  catalog.call('PUT', `/blueprints/${id}${query}`, {
    raw: await tgzOf([
      { name: 'bp/blueprint.yaml', content: MAIN },
      { name: 'bp/large.bin', content: randomBytes(bytes) },
    ]),
    contentType: 'application/octet-stream',
    as: userOf('ann', tenant),
  });

it('what a tenant keeps is bounded in sum, said with 507, and no other tenant is concerned', async () => {
  const kept = await upload('first', 600_000);
  expect([kept.status, kept.body.message]).toEqual([201, undefined]);
  const refused = await upload('second', 600_000);
  expect([refused.status, refused.body]).toEqual([
    507,
    expect.objectContaining({
      error_code: 'insufficient_storage_error',
      quota: 'storage',
      tenant: 'default_tenant',
      limit: LIMIT,
      usage: expect.any(Number),
    }),
  ]);
  expect(refused.body.usage).toBeGreaterThan(1_200_000);
  expect((await catalog.call('GET', '/blueprints/second')).status).toBe(404);
  expect((await upload('second', 600_000, '', 'another')).status).toBe(201);

  // The quota also holds for uploads in the background and for files of deployments.
  expect((await upload('later', 600_000, '?async_upload=true')).status).toBe(507);
  catalog.known.set('default_tenant/dep', '');
  const write = (bytes: number) =>
    catalog.call('PUT', '/resources/deployments/default_tenant/dep/file.bin', {
      raw: randomBytes(bytes),
      contentType: 'application/octet-stream',
    });
  const file = await write(600_000);
  expect([file.status, file.body.quota]).toEqual([507, 'storage']);
  expect((await write(300_000)).status).toBeLessThan(300);
  // A file that replaces itself is counted once.
  expect((await write(310_000)).status).toBeLessThan(300);

  const { blueprints, plugins, files, limit } = await catalog.rpc.getStorage({ tenant: 'default_tenant' });
  expect({ plugins, files, limit }).toEqual({ plugins: 0, files: 310_000, limit: LIMIT });
  expect(blueprints).toBeGreaterThan(600_000);

  expect((await catalog.call('DELETE', '/blueprints/first')).status).toBe(204);
  expect((await upload('second', 600_000)).status).toBe(201);
});

it('two that come at once do not fit into the same room', async () => {
  const answers = await Promise.all(['a', 'b', 'c'].map((id) => upload(id, 400_000, '', 'crowded')));
  expect(answers.map(({ status }) => status).sort()).toEqual([201, 201, 507]);
  await eventually(async () =>
    expect((await catalog.rpc.getStorage({ tenant: 'crowded' })).blueprints).toBeLessThan(LIMIT),
  );
});
