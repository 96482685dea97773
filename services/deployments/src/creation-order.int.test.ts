// Without _sort, lists of nodes and node instances are in the order of creation, like all other lists (reference/rest-api.md 3.2
// note 2).
import { vacuumAnalyze } from '@baton/testkit';
import { sql } from 'kysely';
import { startTestDeployments, type TestDeployments } from './testing/test-deployments';

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  for (const id of ['z', 'a']) await test.create(id, { blueprint_id: 'contained' });
});
afterAll(() => test.stop());

interface Item {
  id: string;
  deployment_id: string;
  node_id: string;
  index: number;
}

async function read(path: string, query = ''): Promise<Item[]> {
  const { status, body } = await test.call('GET', `${path}?${query}`);
  expect([path, query, status]).toEqual([path, query, 200]);
  return body.items;
}
const nodes = async (query = '') => (await read('/nodes', query)).map((n) => `${n.deployment_id} ${n.id}`);
const instances = async (query = '') =>
  (await read('/node-instances', query)).map((i) => `${i.deployment_id} ${i.node_id}${i.index}`);

const NODES = ['inner', 'db', 'outer'];
const INSTANCES = ['outer1', 'inner1', 'outer2', 'inner2', 'db1'];
const all = (of: readonly string[]) => ['z', 'a'].flatMap((id) => of.map((one) => `${id} ${one}`));

it('nodes come as the blueprint has them, deployment by deployment', async () => {
  expect(await nodes()).toEqual(all(NODES));
  expect(await nodes('deployment_id=a')).toEqual(NODES.map((id) => `a ${id}`));
  expect(await nodes('id=outer')).toEqual(['z outer', 'a outer']);
  expect(await nodes('_search=e')).toEqual(['z inner', 'z outer', 'a inner', 'a outer']);
});

it('node instances come tree by tree, each before what it contains', async () => {
  expect(await instances()).toEqual(all(INSTANCES));
  expect(await instances('deployment_id=a')).toEqual(INSTANCES.map((id) => `a ${id}`));
  expect(await instances('node_id=inner')).toEqual(['z inner1', 'z inner2', 'a inner1', 'a inner2']);
  const found = await test.call('POST', '/searches/node-instances', {});
  expect(found.body.items.map((i: Item) => `${i.deployment_id} ${i.node_id}${i.index}`)).toEqual(
    all(INSTANCES),
  );
});

it('that order breaks the ties of every sort', async () => {
  expect(await nodes('_sort=-type')).toEqual(all(NODES));
  expect(await instances('_sort=state')).toEqual(all(INSTANCES));
  expect(await instances('_sort=-node_id')).toEqual([
    ...['z outer1', 'z outer2', 'a outer1', 'a outer2'],
    ...['z inner1', 'z inner2', 'a inner1', 'a inner2'],
    ...['z db1', 'a db1'],
  ]);
  expect(await instances('_sort=deployment_id')).toEqual(
    ['a', 'z'].flatMap((id) => INSTANCES.map((one) => `${id} ${one}`)),
  );
});

it('what is added later comes last, whatever deployment it belongs to', async () => {
  const started = await test.call('POST', '/deployment-modifications', {
    deployment_id: 'z',
    nodes: { db: { instances: 3 } },
  });
  expect(started.status).toBe(201);
  const whole = [...all(INSTANCES), 'z db2', 'z db3'];
  expect(await instances()).toEqual(whole);
  expect(await instances('deployment_id=z')).toEqual(whole.filter((one) => one.startsWith('z')));
  await test.call('POST', `/deployment-modifications/${started.body.id}/rollback`);
  expect(await instances()).toEqual(all(INSTANCES));
});

it.each([
  ['nodes', 'select n.seq from nodes n order by n.seq limit 10 offset 5000'],
  ['nodes', "select n.seq from nodes n where n.id = 'n' order by n.seq limit 10 offset 5000"],
  [
    'node_instances',
    "select ni.seq from node_instances ni where ni.tenant = 'default_tenant' order by ni.seq limit 10 offset 5000",
  ],
  [
    'node_instances',
    "select ni.seq from node_instances ni where ni.node_id = 'n' order by ni.seq desc limit 10 offset 5000",
  ],
])('pages deep in %s are walked in an index: %s', async (table, statement) => {
  await sql`insert into deployments (tenant, id, blueprint_id, display_name, visibility, created_by)
    select 'default_tenant', 'many' || i, 'bp', 'many', 'tenant', 'ann' from generate_series(1, 10000) i on conflict do nothing`.execute(
    test.db.query,
  );
  await sql`insert into nodes select d.key, 'n', 0, n.type, null, n.definition, n.properties, 1, 1, 1, 1, 1
    from deployments d, (select * from nodes limit 1) n where d.id like 'many%' on conflict do nothing`.execute(
    test.db.query,
  );
  await sql`insert into node_instances (tenant, id, deployment_key, node_id, index, visibility)
    select d.tenant, 'n_' || d.id, d.key, 'n', 1, 'tenant' from deployments d where d.id like 'many%' on conflict do nothing`.execute(
    test.db.query,
  );
  await vacuumAnalyze(test.db.pool, table);
  const { rows } = await test.db.pool.query(`explain (analyze, costs off, timing off) ${statement}`);
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n');
  expect(plan).toContain('Index Only Scan');
  expect(plan).not.toContain('Sort');
});
