import { silentLog } from '@baton/kernel';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import { createDb, createStatisticsUpkeep, type Db } from './index';

let database: TestDatabase;
let db: Db<unknown>;

beforeAll(async () => {
  database = await testDatabase({ migrations: [] });
  db = createDb({ url: database.url, schema: 'young', applicationName: 'test', log: silentLog });
  await db.pool.query('create schema young');
});
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** Runs the statements in one session and flushes its activity to the statistics. */
async function inSession(...statements: string[]): Promise<void> {
  const client = await db.pool.connect();
  try {
    for (const text of [...statements, 'select pg_stat_force_next_flush()', 'select 1'])
      await client.query(text);
  } finally {
    client.release();
  }
}

test('a statement that was planned while its table was empty is planned anew when the table has grown', async () => {
  const client = await db.pool.connect();
  try {
    const plan = async (): Promise<string> =>
      JSON.stringify((await client.query("explain execute one_thing('a', 7)")).rows);
    await client.query(`create table things (tenant text not null, size int not null);
      create index things_of_size on things (size); create index things_of_tenant on things (tenant);
      set plan_cache_mode = force_generic_plan; set enable_bitmapscan = off;
      prepare one_thing as select * from things where tenant = $1 and size = $2`);
    expect(await plan()).toContain('things_of_tenant');
    await inSession("insert into things select 'a', n from generate_series(1, 5000) n");
    expect(await plan()).toContain('things_of_tenant');
    expect(await createStatisticsUpkeep({ db }).tickOnce()).toMatchObject({ tables: 1 });
    expect(await plan()).toContain('things_of_size');
  } finally {
    client.release(true);
  }
});

test('tables are read again only when they have grown to several times what is known of them', async () => {
  const { tickOnce } = createStatisticsUpkeep({ db });
  await inSession(
    'create table grown (n int)',
    'create table small (n int)',
    'insert into grown select generate_series(1, 100)',
    'insert into small select generate_series(1, 40)',
  );
  expect(await tickOnce()).toEqual({ tables: 1, againInMs: expect.any(Number) });
  expect(await tickOnce()).toEqual({ tables: 0 });
  await inSession('insert into grown select generate_series(1, 200)', 'update grown set n = n + 1');
  expect(await tickOnce()).toEqual({ tables: 0 });
  await inSession('insert into grown select generate_series(1, 200)');
  expect(await tickOnce()).toEqual({ tables: 1, againInMs: expect.any(Number) });
});
