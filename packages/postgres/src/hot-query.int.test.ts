import { silentLog } from '@baton/kernel';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { createDb, type Db, prepared } from './index';

let database: TestDatabase;
let db: Db<object>;

beforeAll(async () => {
  database = await testDatabase({ migrations: [] });
  const schema = 'public';
  db = createDb({ url: database.url, schema, applicationName: 'hot', log: silentLog, maxConnections: 2 });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const VALUES = {
  name: 'values',
  text: `select $1::text as text, $2::int as number, $3::text as nothing, $4::text[] as list, $5::jsonb as json,
    $6::bytea as bytes, $7::boolean as truth, $8::timestamptz as at, 12345678901::bigint as big`,
};

test('values arrive and rows come back as those of the general query', async () => {
  const at = new Date('2026-01-02T03:04:05.678Z');
  const values = ['ü"\'\\', 7, null, ['a,b', '"c"', null], '{"a":[1]}', Buffer.from([0, 255]), true, at];
  const general = await db.pool.query({ text: VALUES.text, values });
  for (let run = 0; run < 3; run++) expect(await prepared(db, VALUES, values)).toEqual(general.rows);
  expect(await db.statement(VALUES, values)).toEqual(general.rows);
});

test('each run of a statement has rows of its own, however many run at once', async () => {
  const series = { name: 'series', text: 'select n::int from generate_series(1, $1::int) n' };
  const rows = await Promise.all(
    Array.from({ length: 20 }, (_, n) => prepared<{ n: number }>(db, series, [n])),
  );
  expect(rows.map((some) => some.map(({ n }) => n))).toEqual(
    Array.from({ length: 20 }, (_, n) => Array.from({ length: n }, (_, i) => i + 1)),
  );
});

test('a statement without columns answers no rows, the first time and again', async () => {
  const none = { name: 'none', text: `select set_config('a.b', $1, false) where false` };
  const write = { name: 'write', text: 'delete from pg_temp.gone where id = $1' };
  await db.tx(async (tx) => {
    await prepared(tx, { name: 'make', text: 'create temp table gone (id int) on commit drop' }, []);
    for (let run = 0; run < 2; run++) expect(await prepared(tx, write, [run])).toEqual([]);
  });
  for (let run = 0; run < 2; run++) expect(await prepared(db, none, ['x'])).toEqual([]);
});

test('a refused run tells its own caller why, and the statement goes on', async () => {
  const divide = { name: 'divide', text: 'select 6 / $1::int as share' };
  const answers = await Promise.allSettled(
    [2, 0, 3].map((by) => prepared<{ share: number }>(db, divide, [by])),
  );
  expect(
    answers.map((answer) => (answer.status === 'fulfilled' ? answer.value[0] : answer.reason.code)),
  ).toEqual([{ share: 3 }, '22012', { share: 2 }]);
  await expect(prepared(db, { name: 'no-such', text: 'select * from no_such_table' }, [])).rejects.toThrow(
    'no_such_table',
  );
  await expect(db.statement(divide, ['many'])).rejects.toMatchObject({ code: '22P02' });
  expect(await db.statement(divide, [1])).toEqual([{ share: 6 }]);
});

test('two texts under one name are refused', async () => {
  await db.tx(async (tx) => {
    expect(await prepared(tx, { name: 'twice', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }]);
    await expect(prepared(tx, { name: 'twice', text: 'select 2 as two' }, [])).rejects.toThrow(
      'two statements have the name twice',
    );
  });
});

test('a connection that is lost while a statement runs tells its caller', async () => {
  const sleep = { name: 'sleep', text: 'select pg_sleep($1)' };
  const running = prepared(db, sleep, [60]);
  const failed = expect(running).rejects.toMatchObject({ code: expect.any(String) });
  const stop = {
    name: 'stop',
    text: 'select pg_terminate_backend(pid) from pg_stat_activity where query = $1',
  };
  // Runs on a connection of the other pool.
  for (let hits = 0; hits === 0; ) hits = (await db.statement(stop, [sleep.text])).length;
  await failed;
  expect(await prepared(db, { name: 'after', text: 'select 1 as one' }, [])).toEqual([{ one: 1 }]);
});
