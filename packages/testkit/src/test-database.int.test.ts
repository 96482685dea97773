import { join } from 'node:path';
import pg from 'pg';
import { testDatabase, testUrls } from './index';

const migrations = [{ schema: 'sample', dir: join(__dirname, '../../postgres/test-migrations') }];
const run = async (url: string, text: string): Promise<unknown[]> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

test('databases of many test files at once are migrated, apart from each other, and gone after drop', async () => {
  const databases = await Promise.all(Array.from({ length: 4 }, () => testDatabase({ migrations })));
  await Promise.all(
    databases.map(({ url }, i) => run(url, `insert into sample.counter values (${i}, ${i})`)),
  );
  const rows = await Promise.all(databases.map(({ url }) => run(url, 'select id from sample.counter')));
  expect(rows).toEqual([[{ id: 0 }], [{ id: 1 }], [{ id: 2 }], [{ id: 3 }]]);
  await Promise.all(databases.map((database) => database.drop()));
  const left = await run(
    testUrls.postgres(),
    `select datname from pg_database where datname in ('${databases.map((d) => d.name).join("','")}')`,
  );
  expect(left).toEqual([]);
});

test('a database whose test process is gone is removed when the next template is made', async () => {
  const abandoned = 'baton_test_999999999_left';
  await run(testUrls.postgres(), `create database ${abandoned}`);
  // Another schema name leads to another template.
  const database = await testDatabase({ migrations: [{ ...migrations[0]!, schema: `s${process.pid}` }] });
  expect(await run(testUrls.postgres(), `select 1 from pg_database where datname = '${abandoned}'`)).toEqual(
    [],
  );
  await database.drop();
});
