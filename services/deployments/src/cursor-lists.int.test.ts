// Lists of deployments from a cursor: they have the rows of the whole list for every caller, with rules and filters, in both forms
// of answers.
import type { Principal } from '@baton/contracts';
import { sql } from 'kysely';
import { principal, startTestDeployments, type TestDeployments } from './testing/test-deployments';

const ROWS = 1_500;
const people = [
  principal('admin'),
  principal('ann'),
  principal('bob', { tenant: 'other', tenants: [{ name: 'other', roles: ['user'] }] }),
];
let test: TestDeployments;
beforeAll(async () => {
  test = await startTestDeployments();
  await test.create('model');
  await sql`insert into deployments (tenant, id, blueprint_id, display_name, visibility, created_by, created_at)
    select case when i % 10 = 3 then 'other' else 'default_tenant' end, 'r' || lpad(i::text, 5, '0'), 'mini', 'r' || i % 7,
      case when i % 30 = 3 then 'global' when i % 7 = 0 then 'private' else 'tenant' end,
      case when i % 2 = 0 then 'ann' else 'bob' end, '2020-01-01Z'::timestamptz + i / 10 * interval '1 microsecond'
    from generate_series(1, ${ROWS}::int) i`.execute(test.db.query);
  await sql`insert into deployment_plans select d.key, p.model, p.inputs, p.outputs, p.capabilities, p.scaling_groups, p.resource_tags, p.node_types
    from deployments d, deployment_plans p where not exists (select 1 from deployment_plans o where o.deployment_key = d.key)`.execute(
    test.db.query,
  );
});
afterAll(() => test.stop());

type Answer = Awaited<ReturnType<TestDeployments['call']>>;
const get = (path: string, as?: Principal): Promise<Answer> => test.call('GET', path, undefined, as);
const ids = (items: { id: string }[]) => items.map(({ id }) => id);

describe.each(people.map((as) => [as.username, as] as const))('as %s', (_name, as) => {
  it.each([
    '_include=id&_sort=created_at',
    '_include=id&_sort=-created_at',
    '_include=id&_sort=display_name&_sort=-created_at',
    '_include=id&_sort=-id',
    '_include=id&blueprint_id=mini&_sort=created_at',
    '_include=id&_all_tenants=true',
    '_include=id,labels,inputs&_sort=-created_at',
  ])('%s', async (query) => {
    const whole = await get(`/deployments?${query}&_size=2000`, as);
    const found: string[] = [];
    for (let after: string | null = ''; after !== null; ) {
      const page: Answer = await get(`/deployments?${query}&_size=400&_after=${after}`, as);
      expect(page.status).toBe(200);
      const { pagination } = page.body.metadata;
      expect(pagination.total).toBe(whole.body.metadata.pagination.total);
      found.push(...ids(page.body.items));
      after = pagination.next;
    }
    expect(found).toEqual(ids(whole.body.items));
  });
});

it('refuses what has no cursor, and what does not belong to one', async () => {
  const field = async (query: string) => {
    const { status, body } = await get(`/deployments?${query}`);
    return [status, body.field];
  };
  expect(await field('_after=&_sort=site_name')).toEqual([400, '_sort']);
  expect(await field('_after=&_offset=3')).toEqual([400, '_offset']);
  expect(await field('_after=nonsense')).toEqual([400, '_after']);
  const { body } = await get('/deployments?_size=3&_after=');
  const { next } = body.metadata.pagination;
  expect(await field(`_size=3&_after=${next}&_search=r`)).toEqual([400, '_after']);
  expect((await field(`_size=30&_after=${next}`))[0]).toBe(200);
  expect(await field('_total=maybe&_after=')).toEqual([400, '_total']);
});

it('knows no cursor where none is asked for, and no total where none is wanted', async () => {
  const plain = await get('/deployments?_size=3');
  expect(Object.keys(plain.body.metadata.pagination).sort()).toEqual(['offset', 'size', 'total']);
  const bare = await get('/deployments?_size=3&_after=&_total=false');
  expect(Object.keys(bare.body.metadata.pagination).sort()).toEqual(['next', 'offset', 'size']);
});
