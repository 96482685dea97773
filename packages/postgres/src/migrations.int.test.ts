import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@baton/kernel';
import { type TestDatabase, testDatabase } from '@baton/testkit';
import pg from 'pg';
import { runMigrations } from './index';
import { RUNNERS_LOCK } from './migrations';

let database: TestDatabase;
let dir: string;
const run = (schema = 'sample') => runMigrations({ url: database.url, schema, dir, log: silentLog });
const select = async <T>(text: string): Promise<T[]> => {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
};

beforeEach(async () => {
  database = await testDatabase({ migrations: [] });
  dir = await mkdtemp(join(tmpdir(), 'baton-test-migrations-'));
  await writeFile(
    join(dir, '0001_first.sql'),
    'create table first (at timestamptz not null default app_now());',
  );
  await writeFile(
    join(dir, '0002_second.sql'),
    'create function two() returns int language sql as $$ select 2; $$; insert into first default values;',
  );
});
afterEach(async () => {
  await database.drop();
  await rm(dir, { recursive: true });
});

test('many runners at once all succeed and every file runs once', async () => {
  const ran = await Promise.all(Array.from({ length: 6 }, () => run()));
  expect(ran.flat()).toEqual(['0001_first', '0002_second']);
  expect(await select('select count(*)::int as n, sample.two() from sample.first')).toEqual([
    { n: 1, two: 2 },
  ]);
});

test('schemas are apart from each other; several may be migrated at the same time', async () => {
  await Promise.all(['a', 'b', 'c'].map(run));
  const found = await select<{ schema: string }>(
    `select table_schema as schema from information_schema.tables where table_name = 'first' order by 1`,
  );
  expect(found.map((row) => row.schema)).toEqual(['a', 'b', 'c']);
});

test('a failing file is rolled back, the ones before it stay, and the repaired file runs next time', async () => {
  await writeFile(join(dir, '0003_third.sql'), 'create table third (); select 1 / 0;');
  await expect(run()).rejects.toThrow('division by zero');
  expect(
    await select(
      `select to_regclass('sample.third') as third, to_regclass('sample.first') is not null as first`,
    ),
  ).toEqual([{ third: null, first: true }]);
  await writeFile(join(dir, '0003_third.sql'), 'create table third ();');
  expect(await run()).toEqual(['0003_third']);
});

test('refuses a file that comes before one that ran already', async () => {
  await run();
  await writeFile(join(dir, '0001_another.sql'), 'select 1;');
  await expect(run()).rejects.toThrow('0001_another');
});

test('an index is built concurrently, by one of many runners, also after a build that was broken off', async () => {
  await run();
  const build = '-- expand, without transaction\ncreate unique index concurrently first_at on first (at);';
  await writeFile(join(dir, '0003_index.sql'), build);
  await select('insert into sample.first select at from sample.first');
  // Two equal rows: the build fails, and leaves an invalid index.
  await expect(run()).rejects.toThrow('first_at');
  const valid = `select i.indisvalid as valid from pg_index i where i.indexrelid = 'sample.first_at'::regclass`;
  expect(await select(valid)).toEqual([{ valid: false }]);
  await select('delete from sample.first where ctid = (select min(ctid) from sample.first)');
  const ran = await Promise.all(Array.from({ length: 4 }, () => run()));
  expect(ran.flat()).toEqual(['0003_index']);
  expect(await select(valid)).toEqual([{ valid: true }]);
});

test('waits for no other runner when there is nothing to do, also when the database is ahead of the files', async () => {
  await run();
  await rm(join(dir, '0002_second.sql'));
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    // A runner at work holds this lock.
    await other.query('select pg_advisory_lock($1)', [RUNNERS_LOCK]);
    expect(await run()).toEqual([]);
  } finally {
    await other.end();
  }
});
