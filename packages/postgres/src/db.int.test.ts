import { join } from 'node:path';
import { isAppError, silentLog } from '@baton/kernel';
import { eventually, setFakeNow, type TestDatabase, testDatabase, testSignals } from '@baton/testkit';
import { type Generated, sql } from 'kysely';
import pg from 'pg';
import {
  afterCommit,
  appNow,
  appNowPlus,
  createDb,
  type Db,
  isInTransaction,
  isUniqueViolation,
  jsonb,
  prepared,
} from './index';

interface Tables {
  things: {
    id: string;
    tenant: string;
    created_by: string;
    size: Generated<number>;
    labels: Generated<unknown>;
    created_at: Generated<string>;
  };
  counter: { id: number; value: number };
}

const dir = join(__dirname, '../test-migrations');
const MOST_CONNECTIONS = 4;
/** Runs long enough that all callers that want a connection have one. */
const SLOW_COUNT = `select count(*)::int as n from pg_stat_activity, pg_sleep(0.3)
  where datname = current_database() and application_name = 'test'`;
let database: TestDatabase;
let db: Db<Tables>;

beforeAll(async () => {
  database = await testDatabase({ migrations: [{ schema: 'sample', dir }] });
  db = createDb({
    url: database.url,
    schema: 'sample',
    applicationName: 'test',
    log: silentLog,
    maxConnections: MOST_CONNECTIONS,
  });
});
afterAll(async () => {
  await db.close();
  await database.drop();
});
beforeEach(async () => {
  await sql`truncate things, counter`.execute(db.query);
});

const thing = (id: string) => ({ id, tenant: 't', created_by: 'me' });
const codeOf = (promise: Promise<unknown>) =>
  promise.then(() => null).catch((e: { code?: string }) => e.code ?? e);

test('a statement that was prepared before a migration added a column goes on', async () => {
  await sql`create table grown (id int)`.execute(db.query);
  await sql`insert into grown values (1)`.execute(db.query);
  const all = { name: 'all-grown', text: 'select * from grown' };
  expect(await db.statement(all, [])).toEqual([{ id: 1 }]);
  await sql`alter table grown add column size int default 7`.execute(db.query);
  expect(await db.statement(all, [])).toEqual([{ id: 1, size: 7 }]);
});

test('rolls back as a whole when the body throws, and runs no work registered for after the commit', async () => {
  const ran: string[] = [];
  await expect(
    db.tx(async (tx) => {
      await tx.insertInto('things').values(thing('a')).execute();
      afterCommit(tx, () => ran.push('after'));
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  expect(await db.query.selectFrom('things').selectAll().execute()).toEqual([]);
  expect(ran).toEqual([]);
});

test('runs registered work after the commit, when others can see the rows', async () => {
  const seen = testSignals().of('seen');
  await db.tx(async (tx) => {
    await tx.insertInto('things').values(thing('a')).execute();
    afterCommit(
      tx,
      () =>
        void db.query
          .selectFrom('things')
          .select('id')
          .execute()
          .then((rows) => seen.reached(rows)),
    );
  });
  expect(await seen.wait()).toEqual([{ id: 'a' }]);
});

test('two transactions that deadlock both succeed, because the loser is run again', async () => {
  await db.query
    .insertInto('counter')
    .values([
      { id: 1, value: 0 },
      { id: 2, value: 0 },
    ])
    .execute();
  const signals = testSignals();
  let runs = 0;
  const add = async (first: number, second: number, mine: string, other: string): Promise<void> => {
    let isFirstRun = true;
    await db.tx(async (tx) => {
      runs++;
      await tx.updateTable('counter').set({ value: sql`value + 1` }).where('id', '=', first).execute();
      void signals.of(mine).reached();
      if (isFirstRun) await signals.of(other).wait();
      isFirstRun = false;
      await tx.updateTable('counter').set({ value: sql`value + 1` }).where('id', '=', second).execute();
    });
  };
  await Promise.all([add(1, 2, 'a', 'b'), add(2, 1, 'b', 'a')]);
  expect(await db.query.selectFrom('counter').select('value').execute()).toEqual([
    { value: 2 },
    { value: 2 },
  ]);
  expect(runs).toBe(3);
}, 15_000);

test('gives up on a transaction that never serializes', async () => {
  let runs = 0;
  const failing = db.tx(async (tx) => {
    runs++;
    await sql`do $$ begin raise exception 'again' using errcode = '40001'; end $$`.execute(tx);
  });
  expect(await codeOf(failing)).toBe('40001');
  expect(runs).toBe(5);
});

test('marks the async context of a transaction, not what goes on after it', async () => {
  let late: Promise<boolean> | undefined;
  const after = testSignals().of('after');
  await db.tx(async () => {
    expect(isInTransaction()).toBe(true);
    late = after.wait().then(() => isInTransaction());
  });
  expect(isInTransaction()).toBe(false);
  await after.reached();
  expect(await late).toBe(false);
});

test('refuses to use a second connection, or a second transaction, inside one', async () => {
  await expect(db.tx(() => db.query.selectFrom('things').selectAll().execute())).rejects.toThrow('pass tx');
  await expect(db.tx(() => prepared(db, { name: 'x', text: 'select 1' }, []))).rejects.toThrow('pass tx');
  await expect(db.tx(() => db.tx(async () => 1))).rejects.toThrow('pass tx');
});

test('a prepared statement sees the rows of its own transaction and is parsed once per connection', async () => {
  const count = { name: 'count-things', text: 'select count(*) as n from things where tenant = $1' };
  await db.tx(async (tx) => {
    await tx.insertInto('things').values(thing('a')).execute();
    expect(await prepared<{ n: number }>(tx, count, ['t'])).toEqual([{ n: 1 }]);
    await prepared(tx, count, ['t']);
    const kept = await sql<{
      name: string;
    }>`select name from pg_prepared_statements where name = 'count-things'`.execute(tx);
    expect(kept.rows).toHaveLength(1);
  });
  expect(await prepared<{ n: number }>(db, count, ['t'])).toEqual([{ n: 1 }]);
});

test('bigint arrives as number, instants as ISO text cut to milliseconds in any session zone, jsonb parsed', async () => {
  await db.query
    .insertInto('things')
    .values({ ...thing('a'), size: 2 ** 40, labels: jsonb([{ k: 'ü' }]) })
    .execute();
  const row = await db.query.selectFrom('things').select(['size', 'labels']).executeTakeFirstOrThrow();
  expect(row).toEqual({ size: 2 ** 40, labels: [{ k: 'ü' }] });
  const { rows } =
    await sql`select '2026-01-02 03:04:05.9999+02'::timestamptz as cut, '2026-01-02 03:04:05Z'::timestamptz as whole,
    '2026-01-02 03:04:05.1Z'::timestamptz as tenth, array['2026-01-02 03:04:05.12Z'::timestamptz, null] as list, null::timestamptz as none`.execute(
      db.query,
    );
  expect(rows).toEqual([
    {
      cut: '2026-01-02T01:04:05.999Z',
      whole: '2026-01-02T03:04:05.000Z',
      tenth: '2026-01-02T03:04:05.100Z',
      list: ['2026-01-02T03:04:05.120Z', null],
      none: null,
    },
  ]);
});

test('a bigint beyond the safe integers is refused rather than bent', async () => {
  await expect(sql`select 9007199254740993::bigint`.execute(db.query)).rejects.toThrow(RangeError);
});

test('fake time stops app_now() on every connection, present and future, until it is lifted', async () => {
  await setFakeNow(db.pool, '2030-01-01T00:00:00.000Z');
  try {
    const four = await Promise.all(
      [1, 2, 3, 4].map(() => sql<{ now: string }>`select ${appNow} as now, pg_sleep(0.01)`.execute(db.query)),
    );
    expect(new Set(four.map(({ rows }) => rows[0]?.now))).toEqual(new Set(['2030-01-01T00:00:00.000Z']));
    const { rows } = await sql<{ due: string }>`select ${appNowPlus(-1500)} as due`.execute(db.query);
    expect(rows[0]?.due).toBe('2029-12-31T23:59:58.500Z');
  } finally {
    await setFakeNow(db.pool, null);
  }
  const { rows } = await sql<{ isReal: boolean }>`select app_now() < '2030-01-01' as "isReal"`.execute(
    db.query,
  );
  expect(rows[0]?.isReal).toBe(true);
});

test('transactions and statements together take no more connections than the Db was given', async () => {
  const slow = { name: 'connections-now', text: SLOW_COUNT };
  const seen = await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      if (i % 2 === 0) return (await db.statement<{ n: number }>(slow, []))[0]!.n;
      return (await db.tx((tx) => sql.raw<{ n: number }>(SLOW_COUNT).execute(tx))).rows[0]!.n;
    }),
  );
  expect(Math.max(...seen)).toBe(MOST_CONNECTIONS);
});

test('comparisons with app_now() can use an index', async () => {
  await sql`create index things_created on things (created_at)`.execute(db.query);
  await db.tx(async (tx) => {
    await sql`set local enable_seqscan = off`.execute(tx);
    const { rows } = await sql`explain select id from things where created_at < app_now()`.execute(tx);
    expect(JSON.stringify(rows)).toContain('Index Cond');
  });
});

test('names a doubled key by its constraint', async () => {
  await db.query.insertInto('things').values(thing('a')).execute();
  const error = await db.query
    .insertInto('things')
    .values(thing('a'))
    .execute()
    .catch((e) => e);
  expect(isUniqueViolation(error, 'things_pk')).toBe(true);
  expect(isUniqueViolation(error, 'other')).toBe(false);
});

test('a database that cannot be reached is service_unavailable_error', async () => {
  const lost = createDb({
    url: 'postgres://postgres@127.0.0.1:1/x',
    schema: 'sample',
    applicationName: 'test',
    log: silentLog,
  });
  const error = await lost.query
    .selectFrom('things' as never)
    .selectAll()
    .execute()
    .catch((e) => e);
  expect(isAppError(error, 'service_unavailable_error')).toBe(true);
  await lost.close();
});

test('a connection lost inside a transaction fails that transaction and nothing else', async () => {
  const error = await db
    .tx(async (tx) => {
      await tx.insertInto('things').values(thing('a')).execute();
      await sql`select pg_terminate_backend(pg_backend_pid())`.execute(tx);
    })
    .catch((e) => e);
  expect(isAppError(error, 'service_unavailable_error')).toBe(true);
  expect(await db.query.selectFrom('things').selectAll().execute()).toEqual([]);
});

test('goes on by itself after the server ended its connections', async () => {
  await db.ping();
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  await admin.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  );
  await admin.end();
  await eventually(() => db.ping());
});
