import { join } from 'node:path';
import { type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { sql } from 'kysely';
import {
  createDb,
  type Db,
  equalsAny,
  equalsBoolean,
  equalsInteger,
  type PageRequest,
  selectPage,
  visibilityScope,
} from './index';

const dir = join(__dirname, '../test-migrations');
let database: TestDatabase;
let db: Db<unknown>;
const statements: string[] = [];

beforeAll(async () => {
  database = await testDatabase({ migrations: [{ schema: 'sample', dir }] });
  db = createDb({
    url: database.url,
    schema: 'sample',
    applicationName: 'test',
    log: silentLog,
    maxConnections: 2,
  });
  await sql`insert into things (id, tenant, created_by, visibility, size, is_hidden, note, created_at)
    select 'thing_' || i, 't', 'me', 'tenant', i % 3, i = 7, case when i % 2 = 0 then 'note 100%' end, '2026-01-01Z'::timestamptz + i / 5 * interval '1 hour'
    from generate_series(1, 20) i`.execute(db.query);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const columns = {
  id: sql`things.id`,
  size: sql`things.size`,
  note: sql`things.note`,
  is_hidden: sql`things.is_hidden`,
  created_at: sql`things.created_at`,
};
const page = (query: Partial<ListQuery>, more: Partial<PageRequest> = {}) =>
  selectPage<{ id: string; size: number; note: string | null }>({
    db: db.query.withPlugin({
      transformQuery: ({ node }) => {
        statements.push(node.kind);
        return node;
      },
      transformResult: async ({ result }) => result,
    }),
    from: sql`things`,
    columns,
    list: listQuery(query),
    tieBreak: sql`things.created_at, things.id collate "C"`,
    search: sql`things.id`,
    ...more,
  });
const ids = async (query: Partial<ListQuery>, more: Partial<PageRequest> = {}) =>
  (await page(query, more)).items.map((row) => row.id);

test('pages cut the whole list without gap or repetition, each with the full total', async () => {
  const whole = await ids({});
  expect(whole).toHaveLength(20);
  const parts: string[] = [];
  for (let offset = 0; offset < 20; offset += 3) {
    const part = await page({ size: 3, offset });
    expect(part.total).toBe(20);
    parts.push(...part.items.map((row) => row.id));
  }
  expect(parts).toEqual(whole);
});

test('the total is right without rows to show it, in at most two statements; otherwise one', async () => {
  const counted = async (query: Partial<ListQuery>): Promise<[number, number, number]> => {
    statements.length = 0;
    const { items, total } = await page(query);
    return [items.length, total, statements.length];
  };
  expect(await counted({ size: 5 })).toEqual([5, 20, 1]);
  expect(await counted({ size: 0 })).toEqual([0, 20, 1]);
  expect(await counted({ size: 5, offset: 100 })).toEqual([0, 20, 2]);
  expect(await counted({ filters: { id: ['nothing'] } })).toEqual([0, 0, 1]);
  expect(await counted({ size: 1, offset: 10, getAll: true })).toEqual([20, 20, 1]);
});

test('selects only what was asked for', async () => {
  expect((await page({ include: ['note', 'computed_by_the_service'], size: 1 })).items).toEqual([
    { note: null },
  ]);
  expect((await page({ include: ['computed_by_the_service'], size: 1 }, { always: ['id'] })).items).toEqual([
    { id: 'thing_1' },
  ]);
  expect((await page({ include: ['computed_by_the_service'], size: 2 })).items).toHaveLength(2);
});

test('sorts as asked and breaks ties by the given order; descending too', async () => {
  const sorted = await page({ sort: [{ field: 'size', descending: true }], size: 8 });
  expect(sorted.items.map((row) => row.size)).toEqual([2, 2, 2, 2, 2, 2, 2, 1]);
  expect(sorted.items.map((row) => row.id).slice(0, 4)).toEqual([
    'thing_2',
    'thing_5',
    'thing_8',
    'thing_11',
  ]);
  const byLength = await ids(
    { sort: [{ field: 'length', descending: false }], size: 1 },
    { sorts: (f) => (f === 'length' ? sql`-length(things.id)` : undefined) },
  );
  expect(byLength[0]).toBe('thing_10');
  await expect(page({ sort: [{ field: 'nonsense', descending: false }] })).rejects.toThrow('nonsense');
});

test('filters: repeated values are alternatives, fields add up, none means null, booleans in any letter case', async () => {
  expect(await ids({ filters: { id: ['thing_1', 'thing_20', 'nothing'] } })).toEqual(['thing_1', 'thing_20']);
  expect(await ids({ filters: { size: ['1'], note: [] } })).toEqual([
    'thing_1',
    'thing_7',
    'thing_13',
    'thing_19',
  ]);
  expect(await ids({ filters: { is_hidden: ['True'] } })).toEqual(['thing_7']);
  expect(await ids({ filters: { id: ["x' or true --"] } })).toEqual([]);
  const custom = { filters: { group: (values: string[]) => equalsAny(sql`things.size`, values) } };
  expect(await ids({ filters: { group: ['0'], id: ['thing_3', 'thing_4'] } }, custom)).toEqual(['thing_3']);
});

test('search is a substring in any letter case, wildcards are literal, two searches are alternatives', async () => {
  expect(await ids({ search: 'THING_2' })).toEqual(['thing_2', 'thing_20']);
  expect(await ids({ search: 'g%2' })).toEqual([]);
  expect(await ids({ search: '\\' })).toEqual([]);
  const both = { searchName: sql`things.note` };
  expect((await page({ search: 'thing_1', searchName: '0%' }, both)).total).toBe(16);
  expect((await page({ searchName: '100_' }, both)).total).toBe(0);
});

describe('visibilityScope', () => {
  const principal = (changes: Partial<Principal>): Principal => ({
    userId: 2,
    username: 'me',
    tenant: 'a',
    role: 'default',
    roles: [],
    permissions: [],
    tenants: [{ name: 'a', roles: ['user'] }],
    authMethod: 'token',
    executionId: '',
    isBootstrapAdmin: false,
    ...changes,
  });
  const visible = async (who: Partial<Principal>, allTenants = false): Promise<string[]> => {
    const scope = visibilityScope(principal(who), 'r', allTenants);
    const { rows } = await sql<{ id: string }>`select tenant || '-' || visibility || '-' || created_by as id
      from (select * from unnest(array['a', 'b', 'c']) tenant, unnest(array['private', 'tenant', 'global']) visibility, unnest(array['me', 'you']) created_by) r
      where ${scope} order by 1`.execute(db.query);
    return rows.map((row) => row.id.replace('private', 'p').replace('tenant', 't').replace('global', 'g'));
  };
  const globals = (...tenants: string[]) => tenants.flatMap((t) => [`${t}-g-me`, `${t}-g-you`]);
  const shared = (t: string) => [...globals(t), `${t}-p-me`, `${t}-t-me`, `${t}-t-you`];
  const whole = (t: string) => [...shared(t), `${t}-p-you`];

  test('users see shared and own rows of their tenant, and global rows of others', async () => {
    expect(await visible({})).toEqual([...shared('a'), ...globals('b', 'c')].sort());
  });
  test('administrators see all of the tenant of the request and no more', async () => {
    const admin = { permissions: ['administrators', 'all_tenants'], role: 'sys_admin' };
    expect(await visible(admin)).toEqual([...whole('a'), ...globals('b', 'c')].sort());
    expect(await visible({ isBootstrapAdmin: true, tenant: 'b' })).toEqual(
      [...globals('a'), ...whole('b'), ...globals('c')].sort(),
    );
  });
  test('all tenants: those the caller belongs to, with the rights it has in each', async () => {
    const tenants = [
      { name: 'a', roles: ['user'] },
      { name: 'b', roles: ['manager'] },
    ];
    expect(await visible({ tenants }, true)).toEqual([...shared('a'), ...whole('b'), ...globals('c')].sort());
  });
  test('all tenants with the permission: every tenant; private rows of others only for system administrators', async () => {
    const auditor = { permissions: ['all_tenants'] };
    expect(await visible(auditor, true)).toEqual(['a', 'b', 'c'].flatMap(shared).sort());
    expect(await visible({ ...auditor, role: 'sys_admin' }, true)).toEqual(
      ['a', 'b', 'c'].flatMap(whole).sort(),
    );
  });
  test('without a tenant only global rows', async () => {
    expect(await visible({ tenant: '' })).toEqual(globals('a', 'b', 'c'));
  });
});

test('numbers and booleans that are compared as such match what their texts match', async () => {
  const typed = {
    filters: {
      size: (values: string[]) => equalsInteger(sql`things.size`, values),
      is_hidden: (values: string[]) => equalsBoolean(sql`things.is_hidden`, values),
    },
  };
  const sizes = [
    '0',
    '1',
    '2',
    '-1',
    '01',
    '+1',
    '1.0',
    ' 1',
    '',
    'x',
    '2147483648',
    '99999999999',
    '-2147483649',
  ];
  for (const size of [...sizes.map((one) => [one]), ['0', '2'], ['2', '2'], ['1', 'x'], []])
    expect([size, await ids({ filters: { size } }, typed)]).toEqual([size, await ids({ filters: { size } })]);
  for (const hidden of [
    ['true'],
    ['false'],
    ['TRUE'],
    ['False'],
    ['true', 'false'],
    ['x'],
    ['x', 'true'],
    ['1'],
    [],
  ])
    expect([hidden, await ids({ filters: { is_hidden: hidden } }, typed)]).toEqual([
      hidden,
      await ids({ filters: { is_hidden: hidden } }),
    ]);
});
