// Builds of plugins under development: what may be replaced, and what never is.
import { tgzOf } from './testing/archives';
import { admin, startCatalog, type TestCatalog } from './testing/catalog-setup';
import { moduleEntries } from './testing/plugin-archives';

let catalog: TestCatalog;
let call: TestCatalog['call'];
afterEach(() => catalog.close());
const start = async (env: Record<string, string> = { BATON_PLUGINS_DEV: 'true' }) => {
  catalog = await startCatalog({ env });
  ({ call } = catalog);
};

const contentType = 'application/octet-stream';
const somebody = { ...admin, username: 'somebody', userId: 9 };
const upload = async (version: string, code: string, query = '?development=true', as = admin) =>
  await call('POST', `/plugins${query}`, {
    raw: await tgzOf(moduleEntries({ version }, { 'index.js': code })),
    contentType,
    as,
  });
const found = async () => {
  const queries = [{ packageName: 'dns', packageVersion: '1.2.0-dev' }];
  const { plugins } = await catalog.rpc.findPlugins({ tenant: 'default_tenant', queries });
  return plugins.map(({ id, digest }: { id: string; digest: string }) => ({ id, digest }));
};

it('a build replaces the last one of its version, and workers get the new one', async () => {
  await start();
  const first = await upload('1.2.0-dev', 'one()');
  expect(first.status).toBe(201);
  const before = await found();
  const second = await upload('1.2.0-dev', 'two()');
  expect([second.status, (await call('GET', '/plugins', { as: admin })).body.items.length]).toEqual([201, 1]);
  const [now] = await found();
  expect([now!.id, now!.digest === before[0]!.digest]).toEqual([second.body.id, false]);
});

it('a release is never replaced, nor is a build of somebody else, or one that all tenants use', async () => {
  await start();
  expect((await upload('1.2.0', 'one()')).body.message).toContain('is a release');
  await upload('1.2.0', 'one()', '');
  expect((await upload('1.2.0', 'two()', '')).body).toMatchObject({
    error_code: 'conflict_error',
    message: expect.stringContaining('with other content; a new release needs a new version'),
    is_same_content: false,
  });
  expect((await upload('1.2.0', 'one()', '')).body.is_same_content).toBe(true);
  const { body } = await upload('1.2.0-dev', 'one()');
  expect((await upload('1.2.0-dev', 'two()', undefined, somebody)).body.message).toContain(
    'the build of admin',
  );
  expect((await upload('1.3.0-dev', 'x()', '?development=true&visibility=global')).body.message).toContain(
    'only',
  );
  await call('PATCH', `/plugins/${body.id}/set-visibility`, { json: { visibility: 'global' }, as: admin });
  expect((await upload('1.2.0-dev', 'two()')).body.message).toContain('other tenants use it');
});

it('a manager takes builds only when its configuration says so', async () => {
  await start({});
  const answer = await upload('1.2.0-dev', 'one()');
  expect([answer.status, answer.body.message]).toEqual([403, expect.stringContaining('BATON_PLUGINS_DEV')]);
});
