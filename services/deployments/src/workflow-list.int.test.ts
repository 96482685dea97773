import { sql } from 'kysely';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
});
afterAll(() => test.stop());

/** Returns the names of the listed workflows, and of those that are shown as available. */
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

it('the states of all node instances decide, as few as there are', async () => {
  const states = async (id: string, ...of: string[]) => {
    await test.create(id);
    for (const [at, state] of of.entries())
      await sql`update node_instances set state = ${state} where deployment_key = (select key from deployments where id = ${id})
        and id = (select id from node_instances i where i.deployment_key = node_instances.deployment_key order by id offset ${at} limit 1)`.execute(
        test.db.query,
      );
    const single = (await test.call('GET', `/deployments/${id}?_include=workflows`)).body.workflows;
    const available = (single as { name: string; is_available: boolean }[])
      .filter((one) => one.is_available)
      .map(({ name }) => name);
    expect((await listed(`id=${id}`)).available).toEqual(available.sort());
    return available;
  };
  const seen = [
    await states('fresh'),
    await states('removed', 'deleted', 'deleted'),
    await states('half', 'started'),
    await states('stopping', 'stopped'),
    await states('whole', 'started', 'started'),
  ];
  // The blueprint has two instances: the states above give three different sets of available workflows.
  expect(new Set(seen.map(String)).size).toBe(3);
});

it('where a model has more deployments than are looked at, what any state allows counts as available', async () => {
  await sql`update node_instances set state = 'uninitialized'`.execute(test.db.query);
  /** Adds deployments like the first one, with an instance that is not installed. */
  const add = (prefix: string, count: number) =>
    test.db.pool.query(`with added as (
        insert into deployments (tenant, id, display_name, visibility, created_by, created_at)
        select 'default_tenant', '${prefix}' || i, 'x', 'tenant', 'admin', '2020-01-01Z' from generate_series(1, ${count}) i returning key
      ), planned as (
        insert into deployment_plans select a.key, p.model, p.inputs, p.outputs, p.capabilities, p.scaling_groups, p.resource_tags,
          array['of.others'] from added a, deployment_plans p where p.deployment_key = (select key from deployments where id = 'idle'))
      insert into node_instances (tenant, id, deployment_key, node_id, index, visibility)
        select 'default_tenant', 'of_' || key, key, 'n', 1, 'tenant' from added`);
  await add('many', 9_900);
  const few = await listed('');
  expect(few.available).toContain('install');
  expect(few.available).not.toContain('uninstall');
  await add('more', 200);
  const { names, available } = await listed('');
  expect(available).toEqual(expect.arrayContaining(['install', 'uninstall']));
  expect(names).toEqual(few.names);
  expect((await listed('_common_only=true')).names).toEqual(names);
  await sql`insert into deployments (tenant, id, display_name, visibility, created_by) values ('default_tenant', 'bare', 'x', 'tenant', 'admin')`.execute(
    test.db.query,
  );
  expect((await listed('_common_only=true')).names).toEqual([]);
}, 60_000);

it('managers of the original say that the list is whole', async () => {
  const original = await startTestDeployments({ wire: 'cloudify' });
  try {
    await original.create('one');
    for (const list of [
      await original.call('GET', '/workflows?_size=2&_offset=1'),
      await original.call('POST', '/searches/workflows?_size=2', { filter_rules: [] }),
    ]) {
      const { items, metadata } = list.body;
      expect(items.length).toBeGreaterThan(2);
      expect(metadata).toEqual({ pagination: { total: items.length, offset: 0, size: items.length } });
    }
    const { body } = await test.call('GET', '/workflows?id=idle&_size=2&_offset=1');
    expect(body.items).toHaveLength(2);
    expect(body.metadata).toMatchObject({ pagination: { offset: 1, size: 2 }, filtered: null });
  } finally {
    await original.stop();
  }
});
