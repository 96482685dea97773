// Lists, labels and summaries that are computed without reading all rows have the same results as a full read.
import { sql } from 'kysely';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

const admin = principal('admin');
const ann = principal('ann');
const bob = principal('bob', { tenant: 'other', tenants: [{ name: 'other', roles: ['user'] }] });
const everybody = [admin, ann, bob];
const ROWS = 120;
const PAGE = 37;

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  await test.create('model');
  await sql`insert into sites (tenant, name, visibility, created_by) values ('default_tenant', 'oslo', 'tenant', 'ann'), ('default_tenant', 'bonn', 'tenant', 'ann')`.execute(
    test.db.query,
  );
  await sql`insert into deployments (tenant, id, blueprint_id, display_name, visibility, created_by, created_at, site_key)
    select case when i % 10 = 3 then 'other' else 'default_tenant' end, 'r' || i, 'bp' || i % 4, 'name ' || i % 3,
      case when i % 30 = 3 then 'global' when i % 7 = 0 then 'private' else 'tenant' end,
      (array['ann', 'bob', 'eve'])[i % 3 + 1], '2020-01-01Z'::timestamptz + i * interval '1 minute',
      case when i % 10 <> 3 then (select s.key from sites s where s.name = (array['oslo', 'bonn'])[i % 3 + 1]) end
    from generate_series(1, ${ROWS}::int) i`.execute(test.db.query);
  await sql`insert into deployment_plans select d.key, p.model, p.inputs, p.outputs, p.capabilities, p.scaling_groups, p.resource_tags, p.node_types
    from deployments d, deployment_plans p where not exists (select 1 from deployment_plans o where o.deployment_key = d.key)`.execute(
    test.db.query,
  );
  await sql`insert into nodes select d.key, 'n' || i, i, 'type-' || i, case when i = 2 then 'n1' end, n.definition, n.properties, i, 1, 1, 1, 1
    from deployments d, generate_series(1, 3) i, (select * from nodes limit 1) n where d.id <> 'model'`.execute(
    test.db.query,
  );
  await sql`insert into node_instances (tenant, id, deployment_key, node_id, index, host_id, visibility, private_to)
    select d.tenant, 'n' || i % 3 + 1 || '_' || d.id || i, d.key, 'n' || i % 3 + 1, i, case when i = 2 then 'n1_' || d.id end,
      d.visibility, case when d.visibility = 'private' then d.created_by end
    from deployments d, generate_series(1, 4) i where d.id <> 'model'`.execute(test.db.query);
  await sql`insert into deployment_labels (deployment_key, tenant, key, value, created_by, creator_id)
    select d.key, d.tenant, l.key, l.value, 'admin', 0 from deployments d, lateral (values
      ('team', 't' || key % 4), ('csys-env-type', case when key % 3 = 0 then 'k8s' when key % 3 = 1 then 'aws' end), ('only-' || tenant, 'x'))
      l(key, value) where l.value is not null`.execute(test.db.query);
});
afterAll(() => test.stop());

type Item = Record<string, string | number | null>;
const list = async (path: string, query: string, as = admin, method = 'GET') => {
  const { status, body } = await test.call(
    method,
    `${path}?${query}`,
    method === 'POST' ? {} : undefined,
    as,
  );
  expect([query, status]).toEqual([query, 200]);
  return body as { items: Item[]; metadata: { pagination: { total: number } } };
};
const keyOf = (item: Item): string => `${item.deployment_id ?? ''}/${item.id}`;
/** Whether neighbours are in order; the server's collation of texts differs from ours. */
const isOrdered = (values: (string | number | null)[], isDown: boolean): boolean =>
  values.every((value, i) => {
    const before = values[i - 1];
    if (i === 0 || before === undefined || value === before) return true;
    if (value === null || before === null) return (value === null) !== isDown;
    return isDown ? before > value : before < value;
  });

describe.each([
  ['/node-instances', ['deployment_id', 'created_by', 'tenant_name', 'visibility', 'node_id', 'host_id']],
  [
    '/nodes',
    [
      'deployment_id',
      'created_by',
      'tenant_name',
      'visibility',
      'blueprint_id',
      'type',
      'host_id',
      'number_of_instances',
    ],
  ],
  ['/deployments', ['site_name', 'environment_type']],
])('%s', (path, fields) => {
  it.each(fields)('sorted by %s has every row once and in order, in pages too', async (field) => {
    for (const as of everybody) {
      const whole = (await list(path, '_size=1000', as)).items.map(keyOf).sort();
      expect(whole.length).toBeGreaterThan(10);
      for (const sign of ['', '-']) {
        const found: Item[] = [];
        for (let offset = 0; offset < whole.length; offset += PAGE) {
          const page = await list(path, `_size=${PAGE}&_offset=${offset}&_sort=${sign}${field}`, as);
          expect(page.metadata.pagination.total).toBe(whole.length);
          found.push(...page.items);
        }
        expect(found.map(keyOf).sort()).toEqual(whole);
        expect([
          field,
          sign,
          isOrdered(
            found.map((item) => item[field]!),
            sign === '-',
          ),
        ]).toEqual([field, sign, true]);
      }
    }
  });
});

it.each([
  ['/node-instances', 'tenant_name', 'default_tenant'],
  ['/node-instances', 'visibility', 'private'],
  ['/node-instances', 'node_id', 'n2'],
  ['/node-instances', 'host_id', 'n1_r7'],
  ['/nodes', 'number_of_instances', '2'],
  ['/nodes', 'type', 'type-3'],
  ['/deployments', 'environment_type', 'aws'],
  ['/deployments', 'environment_type', 'k8s'],
])('%s filtered by %s=%s are those of the whole list', async (path, field, value) => {
  for (const as of everybody) {
    const wanted = (await list(path, '_size=1000', as)).items
      .filter((item) => String(item[field]) === value)
      .map(keyOf);
    const page = await list(path, `_size=1000&${field}=${value}`, as);
    expect(page.items.map(keyOf).sort()).toEqual(wanted.sort());
    expect(page.metadata.pagination.total).toBe(wanted.length);
  }
});

it('a search of node instances without rules is the list', async () => {
  for (const as of everybody) {
    const wanted = await list('/node-instances', `_size=${PAGE}&_offset=9`, as);
    const found = await list('/searches/node-instances', `_size=${PAGE}&_offset=9`, as, 'POST');
    expect(found.items.map(keyOf)).toEqual(wanted.items.map(keyOf));
    expect(found.metadata.pagination.total).toBe(wanted.metadata.pagination.total);
  }
});

it.each([
  ['deployments', 'site_name', ''],
  ['deployments', 'visibility', ''],
  ['deployments', 'tenant_name', '&visibility=tenant'],
  ['nodes', 'visibility', ''],
  ['node_instances', 'visibility', '&tenant_name=default_tenant'],
  ['node_instances', 'deployment_id', ''],
  // Narrowed by a text as lists are: the counters do not cover texts and are not used then.
  ['deployments', 'blueprint_id', '&_search=r11'],
  ['deployments', 'visibility', '&_search=r11&_search_name=name%201'],
  ['deployments', 'tenant_name', '&_search_name=NAME%202&visibility=tenant'],
  ['nodes', 'visibility', '&_search=n2'],
  ['node_instances', 'deployment_id', '&_search=n1_r2'],
])('a summary of %s by %s%s counts what the list shows', async (kind, field, filter) => {
  for (const as of everybody) {
    const counts = new Map<string, number>();
    for (const item of (await list(`/${kind.replace('_', '-')}`, `_size=1000${filter}`, as)).items)
      counts.set(String(item[field]), (counts.get(String(item[field])) ?? 0) + 1);
    const { items } = await list(`/summary/${kind}`, `_target_field=${field}&_size=1000${filter}`, as);
    expect(new Map(items.map((item) => [String(item[field]), item[kind] as number]))).toEqual(counts);
  }
});

it.each([
  ['deployments', '_target_field=visibility', (items: Item[]) => items],
  [
    'deployments',
    '_target_field=tenant_name&_sub_field=visibility',
    (items: Item[]) => items[0]!['by visibility'] as unknown as Item[],
  ],
  ['nodes', '_target_field=visibility', (items: Item[]) => items],
])('a summary of %s by %s has visibilities from the narrowest on', async (kind, query, counts) => {
  const { items } = await list(`/summary/${kind}`, query);
  const order = counts(items).map((item) => String(item.visibility));
  expect(order).toEqual(['private', 'tenant', 'global'].filter((one) => order.includes(one)));
  expect(order.length).toBeGreaterThan(1);
});

it('labels are those of deployments that the caller sees, few or many', async () => {
  const texts = async (path: string, as = admin, query = '_size=2000') => (await list(path, query, as)).items;
  expect(await texts('/labels/deployments')).toEqual([
    'csys-env-type',
    'only-default_tenant',
    'only-other',
    'team',
  ]);
  expect(await texts('/labels/deployments', bob)).toEqual(['csys-env-type', 'only-other', 'team']);
  expect(await texts('/labels/deployments', admin, '_search=ONLY')).toEqual([
    'only-default_tenant',
    'only-other',
  ]);
  expect(await texts('/labels/deployments/team', admin, '_size=2&_offset=1')).toEqual(['t1', 't2']);
  expect(await texts('/labels/deployments/none')).toEqual([]);
  const values = Array.from({ length: 1_500 }, (_, i) => `v${String(i).padStart(4, '0')}`);
  await sql`insert into deployment_labels (deployment_key, tenant, key, value, created_by, creator_id)
    select d.key, d.tenant, 'many', v, 'admin', 0 from deployments d, unnest(${values}::text[]) v where d.id = 'r1'`.execute(
    test.db.query,
  );
  expect(await texts('/labels/deployments/many')).toEqual(values);
  expect(await texts('/labels/deployments/many', bob)).toEqual([]);
});
