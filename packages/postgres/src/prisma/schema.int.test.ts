import { join } from 'node:path';
import { parseSchema, readTables, type TestDatabase, testDatabase } from '@baton/testkit';
import pg from 'pg';

const root = join(__dirname, '../../test-prisma');
const model = parseSchema(join(root, 'schema.prisma'));
let database: TestDatabase;
let client: pg.Client;

beforeEach(async () => {
  database = await testDatabase({ migrations: [{ schema: 'samples', dir: join(root, 'migrations') }] });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  await client.query('set search_path = samples, baton');
});
afterEach(async () => {
  await client.end();
  await database.drop();
});

test('a schema.prisma with every kind of column, key, index and reference fits its database', async () => {
  expect(model).toEqual(await readTables(database.url, 'samples'));
});

test.each([
  ['a table more', 'create table further (id int primary key)'],
  ['a column more', 'alter table samples add column further text'],
  ['a column less', 'alter table samples drop column ratio'],
  ['another type', 'alter table samples alter column small type bigint'],
  ['another precision', 'alter table samples alter column amount type numeric(20, 5)'],
  ['null where it was not', 'alter table notes alter column text drop not null'],
  ['not null where it was', 'alter table samples alter column ref set not null'],
  ['another default', 'alter table samples alter column small set default 8'],
  ['no default', 'alter table samples alter column at drop default'],
  ['a list that was none', 'alter table samples alter column day type date[] using null'],
  ['an index more', 'create index further on notes (visibility)'],
  ['an index less', 'drop index notes_sample'],
  ['an index of another order', 'drop index notes_sample; create index notes_sample on notes (sample desc)'],
  ['another condition', 'drop index samples_on; create index samples_on on samples (number) where not is_on'],
  ['a unique index that is none', 'drop index notes_text_key; create index notes_text_key on notes (text)'],
  [
    'another key',
    'alter table notes drop constraint notes_pkey; alter table notes add primary key (id, tenant)',
  ],
  ['no reference', 'alter table notes drop constraint notes_sample_fkey'],
  [
    'another deletion',
    'alter table notes drop constraint notes_sample_fkey; alter table notes add foreign key (sample) references samples',
  ],
  ['a value of an enum more', `alter type mood add value 'glad'`],
])('%s is told', async (_, statement) => {
  await client.query(statement);
  expect(model).not.toEqual(await readTables(database.url, 'samples'));
});
