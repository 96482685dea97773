// Pages from a cursor on: the same rows as the whole list, in every order, whichever rows are added or deleted meanwhile.
import { join } from 'node:path';
import { type ListQuery, listQuery } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { sql } from 'kysely';
import { createDb, type Db, type Keyset, selectListPage } from './index';

const dir = join(__dirname, '../test-migrations');
let database: TestDatabase;
let db: Db<unknown>;
beforeEach(async () => {
  database = await testDatabase({ migrations: [{ schema: 'sample', dir }] });
  db = createDb({ url: database.url, schema: 'sample', applicationName: 'test', log: silentLog });
  await sql`insert into things (id, tenant, created_by, visibility, size, is_hidden, note, created_at)
    select 'thing_' || i, 't', 'me', 'tenant', i % 3, false, null, '2026-01-01Z'::timestamptz + i / 5 * interval '1 microsecond'
    from generate_series(1, 40) i`.execute(db.query);
});
afterEach(async () => {
  await db.close();
  await database.drop();
});

const ties = {
  created_at: { column: sql`things.created_at`, type: 'timestamptz' },
  id: { column: sql`things.id`, type: 'text' },
} as const;
const keyset: Keyset = {
  ties,
  sorts: { ...ties, size: { column: sql`things.size`, type: 'bigint' } },
  scope: 't',
};
type Thing = { id: string; size: number };

const page = (query: Partial<ListQuery>, of: Keyset = keyset) =>
  selectListPage<Thing>(
    {
      db: db.query,
      from: sql`things`,
      columns: { id: sql`things.id`, size: sql`things.size`, created_at: sql`things.created_at` },
      tieBreak: sql`things.created_at, things.id`,
      list: listQuery({
        include: ['id'],
        sort: [{ field: 'created_at', descending: false }],
        size: 7,
        ...query,
      }),
    },
    of,
  );
const from = (after: string, hasTotal = true) => ({ keyset: { after, hasTotal } });

async function all(query: Partial<ListQuery>): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null | undefined = ''; typeof after === 'string'; ) {
    const { items, next, total } = await page({ ...query, ...from(after) });
    expect(total).toBe((await page({ ...query, size: 100 })).total);
    for (const item of items) expect(Object.keys(item)).toEqual(['id']);
    found.push(...items.map(({ id }) => id));
    after = next;
  }
  return found;
}

test.each([
  [[{ field: 'created_at', descending: false }]],
  [[{ field: 'created_at', descending: true }]],
  [[{ field: 'id', descending: true }]],
  [
    [
      { field: 'size', descending: true },
      { field: 'id', descending: false },
    ],
  ],
  [[]],
])('pages make up the list sorted by %j', async (sort) => {
  const whole = (await page({ sort, size: 100 })).items.map(({ id }) => id);
  expect(await all({ sort })).toEqual(whole);
  const filters = { size: ['1'] };
  const some = (await page({ sort, filters, size: 100 })).items.map(({ id }) => id);
  expect(await all({ sort, filters })).toEqual(some);
});

test('a page that ends with the last row has no next one, nor has an empty list', async () => {
  expect(await page({ size: 40, ...from('') })).toMatchObject({ next: null, total: 40 });
  expect(await page({ size: 39, ...from('') })).toMatchObject({ next: expect.any(String) });
  expect(await page({ filters: { id: ['none'] }, ...from('') })).toEqual({ items: [], next: null, total: 0 });
});

test('rows that come or go before the cursor move nothing', async () => {
  const first = await page(from(''));
  await sql`delete from things where id = 'thing_1'`.execute(db.query);
  await sql`insert into things (id, tenant, created_by, visibility, size, is_hidden, created_at)
    values ('early', 't', 'me', 'tenant', 1, false, '2020-01-01Z')`.execute(db.query);
  const whole = (await page({ size: 100 })).items.map(({ id }) => id);
  const second = await page(from(first.next!));
  expect(second.items.map(({ id }) => id)).toEqual(whole.slice(7, 14));
});

test('without a total none is counted', async () => {
  const { total, next } = await page(from('', false));
  expect([total, typeof next]).toEqual([0, 'string']);
});

test('a cursor of another list is refused, and what is none', async () => {
  const { next } = await page(from(''));
  const other = /belongs to a list with another sort, filter or tenant/;
  await expect(page({ filters: { size: ['1'] }, ...from(next!) })).rejects.toThrow(other);
  await expect(page({ sort: [{ field: 'created_at', descending: true }], ...from(next!) })).rejects.toThrow(
    other,
  );
  await expect(page(from(next!), { ...keyset, scope: 'another' })).rejects.toThrow(other);
  for (const made of ['x', 'bnVsbA', 'W10', 'x'.repeat(5_000)])
    await expect(page(from(made))).rejects.toMatchObject({
      code: 'bad_parameters_error',
      details: { field: '_after' },
    });
  const [print] = JSON.parse(Buffer.from(next!, 'base64url').toString()) as string[];
  for (const time of ['2026-02-31 00:00:00+00', "now'", 'infinity', '2026-13-01 00:00:00+00']) {
    const forged = Buffer.from(JSON.stringify([print, time, 'thing_1'])).toString('base64url');
    await expect(page(from(forged))).rejects.toMatchObject({ code: 'bad_parameters_error' });
  }
});

test.each([
  ['_offset', { offset: 3 }],
  ['_size', { size: 0 }],
  ['_get_all_results', { getAll: true, size: 0 }],
  ['_sort', { sort: [{ field: 'note', descending: false }] }],
])('%s does not go with a cursor', async (field, query) => {
  await expect(page({ ...query, ...from('') })).rejects.toMatchObject({
    code: 'bad_parameters_error',
    details: { field },
  });
});

test('without a cursor in the request pages are as ever', async () => {
  expect(await page({})).not.toHaveProperty('next');
});
