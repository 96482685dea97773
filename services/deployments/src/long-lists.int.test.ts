import type { Principal } from '@baton/contracts';
import { deploymentsRoutes } from '@baton/contracts/http/deployments';
import { visibleTotal } from '@baton/postgres';
import { vacuumAnalyze } from '@baton/testkit';
import { sql } from 'kysely';
import { createDeploymentStatements, type PageStart } from './store/deployment-pages.sql';
import { deploymentScope } from './store/deployments.sql';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

const ROWS = 6_000;
const admin = principal('admin');
const ann = principal('ann');
const bob = principal('bob', { tenant: 'other', tenants: [{ name: 'other', roles: ['user'] }] });

let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  await test.create('model');
  // Ten rows have the same time; a tenth of the rows is in another tenant; some rows are global, some private.
  await sql`insert into deployments (tenant, id, blueprint_id, display_name, visibility, created_by, created_at)
    select case when i % 10 = 3 then 'other' else 'default_tenant' end, 'r' || lpad(i::text, 5, '0'), 'mini', 'r',
      case when i % 30 = 3 then 'global' when i % 7 = 0 then 'private' else 'tenant' end,
      case when i % 2 = 0 then 'ann' else 'bob' end, '2020-01-01Z'::timestamptz + i / 10 * interval '1 minute'
    from generate_series(1, ${ROWS}::int) i`.execute(test.db.query);
  await sql`insert into deployment_plans select d.key, p.model, p.inputs, p.outputs, p.capabilities, p.scaling_groups, p.resource_tags, p.node_types
    from deployments d, deployment_plans p where not exists (select 1 from deployment_plans o where o.deployment_key = d.key)`.execute(
    test.db.query,
  );
  await sql`insert into deployment_labels (deployment_key, tenant, key, value, created_by, creator_id)
    select key, tenant, 'team', 't' || key % 10, 'admin', 0 from deployments`.execute(test.db.query);
  await vacuumAnalyze(test.db.pool, 'deployments.deployments');
});
afterAll(() => test.stop());

async function counted(as: Principal, allTenants = false): Promise<number[]> {
  const { rows } = await sql<{
    kept: number;
    real: number;
  }>`select ${visibleTotal(['deployments'], as, allTenants)} as kept,
    (select count(*) from deployments d where ${deploymentScope(as, allTenants)}) as real`.execute(
    test.db.query,
  );
  return [rows[0]!.kept, rows[0]!.real];
}

async function expectRight(): Promise<void> {
  for (const as of [admin, ann, bob]) {
    for (const allTenants of [false, true]) {
      const [kept, real] = await counted(as, allTenants);
      expect([as.username, allTenants, kept]).toEqual([as.username, allTenants, real]);
    }
  }
}

describe('totals', () => {
  it('are those of a count for everybody, through inserts, deletes and changes of visibility', async () => {
    await expectRight();
    await sql`delete from deployments where id in ('r00007', 'r00033', 'r00040')`.execute(test.db.query);
    await sql`update deployments set visibility = 'global' where id in ('r00014', 'r00021')`.execute(
      test.db.query,
    );
    await sql`update deployments set created_by = 'ann' where id = 'r00035'`.execute(test.db.query);
    await expectRight();
  });

  it('do not make writers of one tenant wait for each other, and forget what is rolled back', async () => {
    const one = await test.db.pool.connect();
    const other = await test.db.pool.connect();
    const insert = (id: string) =>
      `insert into deployments (tenant, id, display_name, visibility, created_by) values ('default_tenant', '${id}', 'x', 'tenant', 'ann')`;
    try {
      await one.query('begin');
      await one.query(insert('at-once-1'));
      await other.query("begin; set local lock_timeout = '2s'");
      await other.query(insert('at-once-2'));
      await one.query('rollback');
      await other.query('commit');
    } finally {
      one.release();
      other.release();
    }
    await expectRight();
  });

  it.each([
    ['nodes', 'nodes'],
    ['node-instances', 'node_instances'],
  ])('of %s follow their deployment', async (path, table) => {
    const total = async () => (await test.call('GET', `/${path}?_size=1`)).body.metadata.pagination.total;
    const before = await total();
    await test.create('counted', { visibility: 'private' });
    expect(await total()).toBeGreaterThan(before);
    const { rows } = await sql<{ n: number }>`select count(*) as n from ${sql.table(table)}`.execute(
      test.db.query,
    );
    expect(await total()).toBe(rows[0]!.n);
    expect((await test.call('GET', `/${path}?_size=1`, undefined, ann)).body.metadata.pagination.total).toBe(
      before,
    );
    await test.call('PATCH', '/deployments/counted/set-visibility', { visibility: 'tenant' });
    expect((await test.call('GET', `/${path}?_size=1`, undefined, ann)).body.metadata.pagination.total).toBe(
      rows[0]!.n,
    );
    await sql`delete from ${sql.table(table)} where deployment_key = (select key from deployments where id = 'counted')
      and ctid = (select max(ctid) from ${sql.table(table)})`.execute(test.db.query);
    expect(await total()).toBe(rows[0]!.n - 1);
    await sql`delete from deployments where id = 'counted'`.execute(test.db.query);
    expect(await total()).toBe(before);
  });
});

describe('pages', () => {
  it.each([
    ['an administrator', admin],
    ['a user', ann],
    ['a user of a small tenant', bob],
  ])('of %s hold every row once and in order, whichever end they are looked for from', async (_who, as) => {
    const { rows } = await sql<{
      id: string;
    }>`select d.id from deployments d where ${deploymentScope(as)} order by d.created_at, d.key`.execute(
      test.db.query,
    );
    const found: string[] = [];
    for (let offset = 0; ; offset += 700) {
      const { body } = await test.call(
        'GET',
        `/deployments?_include=id&_size=700&_offset=${offset}`,
        undefined,
        as,
      );
      expect(body.metadata.pagination.total).toBe(rows.length);
      found.push(...body.items.map((item: { id: string }) => item.id));
      if (body.items.length < 700) break;
    }
    expect(found).toEqual(rows.map((row) => row.id));
  });

  describe('that are sorted, or of nodes and instances', () => {
    beforeAll(async () => {
      await sql`insert into nodes select d.key, n.id, n.position, n.type, n.host_id, n.definition, n.properties, 1, 1, 1, 1, 1
        from deployments d, nodes n join deployments m on m.key = n.deployment_key and m.id = 'model'
        where d.id like 'r%' and not exists (select 1 from nodes o where o.deployment_key = d.key)`.execute(
        test.db.query,
      );
      await sql`insert into node_instances (tenant, deployment_key, id, node_id, index, visibility, private_to)
        select d.tenant, d.key, 'i' || d.id, 'x', 1, d.visibility, case when d.visibility = 'private' then d.created_by end
        from deployments d where d.id like 'r%'`.execute(test.db.query);
      await vacuumAnalyze(test.db.pool, 'deployments.nodes');
    }, 60_000);

    it.each([
      ['/nodes?_include=id,deployment_id', 'nodes n join deployments d on d.key = n.deployment_key', 'n.seq'],
      [
        '/nodes?_include=id,deployment_id&_sort=-type',
        'nodes n join deployments d on d.key = n.deployment_key',
        'n.type desc, n.seq',
      ],
      [
        '/node-instances?_include=id,deployment_id',
        'node_instances n join deployments d on d.key = n.deployment_key',
        'n.seq',
      ],
      ['/deployments?_include=id&_sort=-id', 'deployments d', 'd.id desc'],
    ])(
      '%s: hold every row once and in order, whichever end they are looked for from',
      async (path, from, order) => {
        for (const as of [admin, ann, bob]) {
          const { rows } = await sql<{
            id: string;
          }>`select ${sql.raw(from === 'deployments d' ? 'd.id' : `d.id || ' ' || n.id as id`)}
          from ${sql.raw(from)} where ${deploymentScope(as)} order by ${sql.raw(order)}`.execute(
            test.db.query,
          );
          const found: string[] = [];
          for (let offset = 0; offset < rows.length + 700; offset += 700) {
            const { body } = await test.call('GET', `${path}&_size=700&_offset=${offset}`, undefined, as);
            expect(body.metadata.pagination.total).toBe(rows.length);
            found.push(
              ...body.items.map((one: Record<string, string>) =>
                [one.deployment_id, one.id].filter(Boolean).join(' '),
              ),
            );
          }
          expect(found).toEqual(rows.map((row) => row.id));
        }
      },
      30_000,
    );
  });

  it('beyond the end are empty and know the total', async () => {
    const { body } = await test.call('GET', `/deployments?_size=50&_offset=${ROWS * 2}`);
    expect(body).toMatchObject({ items: [], metadata: { pagination: { total: (await counted(admin))[1] } } });
  });

  it.each<[PageStart, number, boolean]>([
    ['first', 0, false],
    ['first', 0, true],
    ['back', ROWS - 200, false],
    ['back', ROWS - 200, true],
  ])(
    '%s from %d: walk an index as far as the page reaches, and sort no more than the page (as records: %s)',
    async (from, offset, isRecord) => {
      const form = { include: null, isRecord };
      for (const as of [admin, ann]) {
        const { statement, values } = createDeploymentStatements(test.db.query).page(as, form, 50, from);
        const nodes = await explained(
          statement.text,
          values({ tenant: as.tenant, username: as.username, offset }),
        );
        const walks = nodes.filter((node) => node['Index Name'] === 'deployments_page');
        expect(walks.map((node) => node['Node Type'])).toEqual(['Index Only Scan']);
        expect(Math.max(...nodes.filter(touchesDeployments).map((node) => rowsOf(node)))).toBeLessThanOrEqual(
          200,
        );
        expect(
          nodes.some((node) => node['Node Type'] === 'Seq Scan' && node['Relation Name'] === 'deployments'),
        ).toBe(false);
      }
    },
  );
});

describe('the text that is kept of a deployment', () => {
  const { list } = deploymentsRoutes.find((route) => route.id === 'listDeployments')!;
  const path = '/deployments?id=model&_size=1';

  /** Returns the item as stored, and as assembled again from its rows. */
  async function shown(): Promise<[kept: unknown, fresh: unknown]> {
    const kept = await test.call('GET', path);
    const fresh = await test.call('GET', `${path}&_include=${list.fields.join()}`);
    return [kept.body.items[0], fresh.body.items[0]];
  }

  beforeAll(async () => {
    await sql`insert into sites (tenant, name, visibility, created_by) values ('default_tenant', 'here', 'tenant', 'admin')`.execute(
      test.db.query,
    );
    await sql`insert into deployment_groups (tenant, id, visibility, created_by) values ('default_tenant', 'some', 'tenant', 'admin')`.execute(
      test.db.query,
    );
  });

  it.each([
    `update deployments set display_name = 'Ünder "quotes"', description = 'text', updated_at = '2024-05-06 07:08:09.123456Z' where id = 'model'`,
    `update deployments set site_key = (select key from sites where name = 'here') where id = 'model'`,
    `update sites set name = 'there' where name = 'here'`,
    `update deployments set latest_execution = 'x', latest_status = 'failed', latest_workflow_id = 'a "b"', latest_finished_operations = 3 where id = 'model'`,
    `update deployments set installation_status = 'active', deployment_status = 'good', sub_services_status = 'good', sub_services_count = 2 where id = 'model'`,
    `insert into deployment_labels (deployment_key, tenant, key, value, created_by, creator_id)
       select key, tenant, 'csys-env-type', 'aws', 'ann', 3 from deployments where id = 'model'`,
    `update deployment_labels set value = 'azure' where key = 'csys-env-type'`,
    `delete from deployment_labels where key = 'csys-env-type'`,
    `insert into deployment_group_members (group_key, deployment_key) select g.key, d.key from deployment_groups g, deployments d where d.id = 'model'`,
    `delete from deployment_groups`,
    `update deployment_plans set inputs = '{"a": [1,  "é"]}', scaling_groups = '{"g": 1}', node_types = '{x}'
       where deployment_key = (select key from deployments where id = 'model')`,
    `update node_instances set state = case when index = 1 then 'a,"b' else 'started' end, system_properties = '{"status": {"ok": false}}'
       where deployment_key = (select key from deployments where id = 'model')`,
    `delete from sites`,
    `update deployments set visibility = 'private', blueprint_id = 'other', runtime_only_evaluation = true where id = 'model'`,
  ])('follows: %s', async (statement) => {
    const [before] = await shown();
    await sql.raw(statement).execute(test.db.query);
    const [kept, fresh] = await shown();
    expect(kept).toEqual(fresh);
    expect(kept).not.toEqual(before);
    expect((await test.call('GET', '/deployments/model')).body).toEqual(kept);
  });

  it('goes with the deployment', async () => {
    await sql`delete from deployments where id = 'r00001'`.execute(test.db.query);
    const { rows } = await sql<{ n: number }>`select count(*) filter (where t.deployment_key is null) as n
      from deployments d full join deployment_texts t on t.deployment_key = d.key where d.id is null or d.id not like 'at-once%'`.execute(
      test.db.query,
    );
    expect(rows[0]!.n).toBe(0);
  });
});

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  'Actual Rows': number;
  'Actual Loops': number;
  'Rows Removed by Filter'?: number;
  Plans?: PlanNode[];
}

const touchesDeployments = (node: PlanNode): boolean =>
  node['Relation Name'] === 'deployments' || node['Node Type'] === 'Sort';
const rowsOf = (node: PlanNode): number =>
  (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];

/** Returns the nodes of the generic plan, which a connection keeps for a statement and which does not depend on values. */
async function explained(text: string, values: unknown[]): Promise<PlanNode[]> {
  const client = await test.db.pool.connect();
  try {
    await client.query('set plan_cache_mode = force_generic_plan');
    await client.query(`prepare page_of_test as ${text}`);
    const literals = values.map((value) =>
      typeof value === 'string' ? client.escapeLiteral(value) : String(value),
    );
    const { rows } = await client.query(
      `explain (analyze, format json) execute page_of_test (${literals.join()})`,
    );
    const nodes: PlanNode[] = [];
    const visit = (node: PlanNode): void => {
      nodes.push(node);
      for (const child of node.Plans ?? []) visit(child);
    };
    visit(rows[0]['QUERY PLAN'][0].Plan);
    return nodes;
  } finally {
    client.release(true);
  }
}

it('a list takes as many statements for 5 deployments as for 60, and one that is read a second time takes one', async () => {
  const cost = async (path: string, body?: unknown): Promise<number> => {
    await test.call(body ? 'POST' : 'GET', path, body);
    const before = test.statements();
    expect((await test.call(body ? 'POST' : 'GET', path, body)).status).toBe(200);
    return test.statements() - before;
  };
  const search = { filter_rules: [{ key: 'team', operator: 'any_of', values: ['t3'], type: 'label' }] };
  expect(await cost('/deployments?_size=5')).toBe(1);
  expect(await cost('/deployments?_size=60')).toBe(1);
  expect(await cost('/deployments?_size=60&_offset=5000')).toBe(1);
  expect(await cost('/deployments/model')).toBe(1);
  expect(await cost('/searches/deployments?_size=60', search)).toBe(
    await cost('/searches/deployments?_size=5', search),
  );
}, 30_000);

it('a deployment and a list are the same whether all fields are asked for or each of them by name', async () => {
  await test.create('fields', {
    labels: [{ accent: 'é\\' }, { a: 'b' }],
    display_name: 'A "name"',
    site_name: null,
  });
  const whole = (await test.call('GET', '/deployments/fields')).body;
  const names = Object.keys(whole).join();
  expect((await test.call('GET', `/deployments/fields?_include=${names}`)).body).toEqual(whole);
  const list = (await test.call('GET', '/deployments?_size=2')).body;
  expect((await test.call('GET', `/deployments?_size=2&_include=${names}`)).body).toEqual(list);
  expect(Object.keys(list.items[0]).sort()).toEqual(Object.keys(whole).sort());
});

it('pages are those of now when the list has grown or shrunk since a page of it was read', async () => {
  const expectPagesOfNow = async (): Promise<void> => {
    const { rows } = await sql<{
      id: string;
    }>`select d.id from deployments d where ${deploymentScope(admin)} order by d.created_at, d.key`.execute(
      test.db.query,
    );
    const ids = rows.map((row) => row.id);
    for (const offset of [1_200, 3_500, 5_000, ids.length - 3, ids.length + 2_000]) {
      const { body } = await test.call('GET', `/deployments?_include=id&_size=5&_offset=${offset}`);
      expect([offset, body.metadata.pagination.total]).toEqual([offset, ids.length]);
      expect(body.items.map((item: { id: string }) => item.id)).toEqual(ids.slice(offset, offset + 5));
    }
  };
  await expectPagesOfNow();
  await sql`insert into deployments (tenant, id, display_name, visibility, created_by, created_at)
    select 'default_tenant', 'g' || i, 'g', 'tenant', 'ann', '2019-01-01Z'::timestamptz + i * interval '1 minute'
    from generate_series(1, 4000) i`.execute(test.db.query);
  await expectPagesOfNow();
  await sql`delete from deployments where id like 'g%'`.execute(test.db.query);
  await expectPagesOfNow();
});
