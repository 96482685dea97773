import { sql } from 'kysely';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());

/** Names of the workflows that the list shows, and of those that it shows as available. */
async function listed(query: string): Promise<{ names: string[]; available: string[] }> {
  const { body } = await test.call('GET', `/workflows?${query}`);
  const items = body.items as { name: string; is_available: boolean }[];
  const named = (some: typeof items) => some.map(({ name }) => name);
  return { names: named(items), available: named(items.filter((one) => one.is_available)) };
}

it('a workflow is available when it is in one of the deployments', async () => {
  for (const id of ['idle', 'installed']) await test.create(id);
  await sql`update node_instances set state = 'started'
    where deployment_key = (select key from deployments where id = 'installed')`.execute(test.db.query);
  const idle = await listed('id=idle');
  expect(idle.available).toContain('install');
  expect(idle.available).not.toContain('uninstall');
  const installed = await listed('id=installed');
  expect(installed.available).toContain('uninstall');
  expect(installed.available).not.toContain('install');
  const both = await listed('id=idle&id=installed');
  expect(both.available).toEqual(expect.arrayContaining(['install', 'uninstall']));
  expect(both.names).toEqual(idle.names);
  expect((await listed('_common_only=true')).names).toEqual(idle.names);
});

it('workflows of deployments behind the first ten thousand are not left out', async () => {
  await sql`insert into deployments (tenant, id, display_name, visibility, created_by, created_at)
    select 'default_tenant', 'x' || i, 'x', 'tenant', 'admin', '2020-01-01Z' from generate_series(1, 10000) i`.execute(
    test.db.query,
  );
  const { names, available } = await listed('');
  expect(names).toContain('install');
  // Nobody has looked whether they are installed.
  expect(available).toEqual(expect.arrayContaining(['install', 'uninstall']));
  expect((await listed('_common_only=true')).names).toEqual([]);
}, 60_000);
