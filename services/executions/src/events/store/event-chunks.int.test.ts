// Totals of events without counting all of them: they equal a full count, whatever happens to old events. Pages that are found by
// the counts equal those of the whole list.
import { join } from 'node:path';
import { type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { newId, silentLog } from '@baton/kernel';
import { clearTenant, closeTenant, createDb, type Db } from '@baton/postgres';
import { testDatabase } from '@baton/testkit';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import { keepEvents } from '../commands/keep-events';
import { specEvents } from '../http/wire-policy';
import { listEvents } from '../queries/list-events';
import { countEvents, reopenChunk, wrongChunks } from './event-chunks.sql';

const caller = (username: string, isAdmin: boolean) =>
  ({
    username,
    tenant: 't',
    role: isAdmin ? 'sys_admin' : 'default',
    roles: [],
    permissions: isAdmin ? ['administrators'] : [],
    tenants: [],
    isBootstrapAdmin: isAdmin,
  }) as unknown as Principal;
const admin = caller('admin', true);
const ann = caller('ann', false);

let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Db<DB>;
beforeEach(async () => {
  database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../../migrations') }],
  });
  db = createDb<DB>({
    url: database.url,
    schema: 'executions',
    applicationName: 'counts-test',
    log: silentLog,
  });
}, 60_000);
afterEach(async () => {
  await db?.close();
  await database?.drop();
});

const executionId = newId();
/**
 * Stores events of every kind, two at each instant, `age` and more ago. Their nodes are numbers from `from` on; some of their
 * texts are numbers too.
 */
const store = (count: number, age: string, from = 0, queryable: { query: Db<DB>['query'] } = db) =>
  sql`insert into events (tenant, execution_id, seq, is_log, event_type, level, message, operation, node_name, visibility, created_by, deployment_id, node_instance_id, blueprint_id, execution_group_id, workflow_id, logger, worker, deployment_display_name, reported_at, created_at)
    select case when n % 5 = 4 then 'other' else 't' end, ${executionId}::uuid, n + ${from}::int, n % 3 = 0, case when n % 3 > 0 then 'type-' || n % 7 end,
      case when n % 3 = 0 then (array['info', 'error'])[n % 2 + 1] end, case when n % 4 = 0 then n::text else 'Text ' || n % 11 end, case when n % 3 = 0 then 'op.' || n % 2 end, (n + ${from}::int)::text,
      (array['tenant', 'private', 'global', 'tenant'])[n % 4 + 1], (array['ann', 'bob', 'admin'])[n % 3 + 1],
      case when n % 9 > 0 then 'd' || n % 2 end, case when n % 3 > 0 then 'n_' || n % 5 end, case when n % 8 > 0 then 'b' || n % 4 end, case when n % 9 = 0 then 'g' end,
      'flow' || n % 2, case when n % 3 = 0 then 'log.' || n % 2 end, case when n % 6 > 0 then 'W' || n % 3 end, case when n % 9 > 0 then (array['dep', 'Dep', 'Éa'])[n % 3 + 1] end,
      date_trunc('second', app_now() - ${age}::interval) + (n / 2 - case when n % 50 = 7 then 40 else n % 4 end) * interval '1 second',
      date_trunc('second', app_now() - ${age}::interval) + n / 2 * interval '1 second'
    from generate_series(1, ${count}::int) n`.execute(queryable.query);

const CHUNK = 25;
/** Counts as after another minute without changes. */
async function count(): Promise<void> {
  await countEvents(db.query, CHUNK);
  await sql`update event_looks set seen_at = seen_at - interval '1 minute'`.execute(db.query);
  while (await countEvents(db.query, CHUNK));
}
const chunks = async () =>
  (
    await sql<{ all: number; reopened: number }>`select (select count(*) from event_chunks) as all,
      (select count(distinct from_at) from event_chunks_reopened) as reopened`.execute(db.query)
  ).rows[0]!;

const ask = (principal: Principal, more: Partial<ListQuery>) => {
  const list = listQuery({
    include: ['node_name'],
    sort: [{ field: 'timestamp', descending: false }],
    ...more,
  });
  return listEvents(
    db.query,
    principal,
    { ...list, filters: { ...list.filters } },
    { ...specEvents.names, manager: 'm1' },
  );
};
const sorts = ['timestamp', 'reported_timestamp', 'event_type', 'operation'].flatMap((field) => [
  [{ field, descending: false }],
  [{ field, descending: true }],
]);
const shown = (items: object[]) => items.map((item) => (item as { node_name: string }).node_name);

/** The rows of a list, page by page from a cursor on; the first page tells the total, as the others do without being asked. */
async function byCursor(principal: Principal, list: Partial<ListQuery>, total: number): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null | undefined = ''; typeof after === 'string'; ) {
    const hasTotal = found.length % 2 === 0;
    const page = await ask(principal, { ...list, keyset: { after, hasTotal } });
    if (hasTotal) expect(page.total).toBe(total);
    found.push(...shown(page.items));
    expect(page.items.length).toBeLessThanOrEqual(list.size!);
    after = page.next;
  }
  return found;
}

const both = [executionId, newId()];

/** Position in the rotation of sorts: each list takes the next two, so that over all calls every list gets every sort. */
let turn = 0;
const someSorts = () => [0, 1].map(() => sorts[turn++ % sorts.length]!);

/** Compares every list, in pages, with a list that does not use the counts (its filters name the execution as well). */
async function expectRight(): Promise<void> {
  // Without this shift each list would always get the same sorts, because the number of lists fits the rotation.
  turn += 2;
  const lists: Partial<ListQuery>[] = [
    {},
    { filters: { type: ['platform_log'] } },
    { filters: { event_type: ['type-1', 'type-2'] } },
    { filters: { level: ['error'], event_type: ['type-4'] } },
    { filters: { event_type: [] } },
    { extra: { _range: [`timestamp,${at('59 minutes')},`, `timestamp,,${at('58 minutes')}`] } },
    { filters: { message: ['%1%'] } },
    { filters: { node_instance_id: ['n_1'] } },
    { filters: { node_instance_id: ['n_1', 'n_2', 'none'], type: ['platform_log'] } },
    { filters: { blueprint_id: ['b1'] }, extra: { _range: [`timestamp,${at('59 minutes')},`] } },
    { filters: { blueprint_id: ['b1', 'b2'], node_instance_id: ['n_3'] } },
    { filters: { execution_group_id: ['g'] } },
    { filters: { node_id: ['7', '1007', '9'] } },
    { filters: { node_id: [], message: ['%1%'] } },
    { filters: { message: ['%no%'], type: ['platform_log'] } },
    { filters: { 'message.text': ['%text%', '%1'], operation: ['OP.%'] } },
    { filters: { message: ['%text 1%'] }, extra: { _range: [`timestamp,${at('59 minutes')},`] } },
    { filters: { type: ['platform_event'] }, extra: { _range: [`timestamp,${at('59 minutes')},`] } },
  ];
  for (const principal of [admin, ann])
    for (const list of lists) {
      const slow = await ask(principal, { ...list, filters: { ...list.filters, execution_id: both } });
      const whole = shown(slow.items);
      expect([list, (await ask(principal, list)).total, whole.length]).toEqual([
        list,
        slow.total,
        slow.total,
      ]);
      for (const sort of someSorts()) {
        const wanted = shown(
          (await ask(principal, { ...list, filters: { ...list.filters, execution_id: both }, sort })).items,
        );
        const found: string[] = [];
        const size = 37;
        for (let offset = 0; offset <= whole.length + size; offset += size) {
          const page = await ask(principal, { ...list, sort, size, offset });
          expect(page.total).toBe(whole.length);
          found.push(...shown(page.items));
        }
        expect([list, sort, found]).toEqual([list, sort, wanted]);
        if (sort[0]!.field === 'timestamp')
          expect([list, sort, await byCursor(principal, { ...list, sort, size }, wanted.length)]).toEqual([
            list,
            sort,
            wanted,
          ]);
      }
      expect(await ask(principal, { ...list, size: 0 })).toEqual({ items: [], total: whole.length });
    }
  expect(await wrongChunks(db.query, 10)).toEqual([]);
}
const at = (age: string) => new Date(Date.now() - Number.parseInt(age, 10) * 60_000).toISOString();

test('nothing, nothing counted, some counted and some new', async () => {
  expect(await ask(admin, {})).toEqual({ items: [], total: 0 });
  await count();
  await store(200, '1 hour');
  await expectRight();
  await count();
  expect((await chunks()).all).toBeGreaterThan(3);
  await expectRight();
  await store(30, '0 seconds', 1000);
  await expectRight();
  await count();
  await expectRight();
}, 60_000);

test('old events that come late or go reopen their chunk, which is counted again', async () => {
  await store(200, '1 hour');
  await count();
  await store(20, '59 minutes', 1000);
  await store(4, '2 hours', 2000);
  expect((await chunks()).reopened).toBeGreaterThan(0);
  await expectRight();
  await count();
  expect((await chunks()).reopened).toBe(0);
  await expectRight();
  await sql`delete from events where node_name in ('3', '77', '199')`.execute(db.query);
  await sql`delete from events_rest where node_name in ('5', '78')`.execute(db.query);
  expect((await chunks()).reopened).toBeGreaterThan(0);
  await expectRight();
  await count();
  await expectRight();
  await closeTenant(db.pool, 'executions', 'other');
  await clearTenant(db.pool, 'executions', 'other', 20);
  await expectRight();
  await count();
  await expectRight();
}, 60_000);

test('what is not committed when the counting comes along is not lost, nor what is deleted meanwhile', async () => {
  await store(100, '1 hour');
  const writer = await db.pool.connect();
  try {
    // Events with the present time, as the engine writes them: the transaction is still open while the time of its events passes.
    await writer.query(`begin; insert into events (tenant, execution_id, seq, is_log, message, node_name, visibility, created_by, reported_at)
      values ('t', '${executionId}', 500, true, 'late', 'late', 'tenant', 'ann', now())`);
    await count();
    await sql`update event_looks set seen_at = seen_at + interval '2 minutes'`.execute(db.query);
    while (await countEvents(db.query, CHUNK));
    expect((await chunks()).all).toBe(0);
    await writer.query('commit');
    await count();
    await expectRight();
    // Events of the past: the counting waits.
    await writer.query(`begin; delete from events where node_name = '50'`);
    await store(50, '50 minutes', 1000);
    await count();
    await writer.query('commit');
    await expectRight();
    await count();
    await expectRight();
    await writer.query(`begin; insert into events (tenant, execution_id, seq, is_log, message, node_name, visibility, created_by, reported_at, created_at)
      values ('t', '${executionId}', 501, true, 'later', 'later', 'tenant', 'ann', now(), now() - interval '55 minutes')`);
    await store(50, '10 minutes', 2000);
    await count();
    await writer.query('commit');
    await count();
    await expectRight();
  } finally {
    writer.release();
  }
}, 60_000);

test('a clock that was put back, and counts that are wrong, are found', async () => {
  await store(100, '1 hour');
  await count();
  await sql`update event_looks set seen_at = seen_at + interval '1 day'`.execute(db.query);
  await countEvents(db.query, CHUNK);
  expect(await chunks()).toEqual({ all: 0, reopened: 0 });
  await expectRight();
  await count();
  await sql`update event_counts set total = total + 1 where ctid = (select min(ctid) from event_counts)`.execute(
    db.query,
  );
  const [wrong, ...others] = await wrongChunks(db.query, 10);
  expect(others).toEqual([]);
  await db.tx((tx) => reopenChunk(tx, wrong!.id));
  await expectRight();
}, 60_000);

test('lists by text read the chunks that have too many texts to be kept', async () => {
  await store(200, '1 hour');
  await count();
  const kept = async () =>
    (await sql<{ n: number }>`select count(distinct from_at) as n from event_messages`.execute(db.query))
      .rows[0]!.n;
  expect(await kept()).toBe((await chunks()).all);
  // As in chunks whose events have more different texts than most_messages.
  await sql`delete from event_messages where from_at in (select from_at from event_chunks order by from_at limit 3 offset 1)`.execute(
    db.query,
  );
  await expectRight();
  await sql`update event_messages set total = total + 1 where ctid = (select min(ctid) from event_messages)`.execute(
    db.query,
  );
  expect(await wrongChunks(db.query, 10)).toHaveLength(1);
}, 60_000);

test('lists sorted by a field whose values are counted are those of the whole list, page by page', async () => {
  await store(220, '1 hour');
  await count();
  await store(60, '20 seconds', 1000);
  // As in a chunk with more values than the counts keep.
  await sql`delete from event_values where field = 'blueprint_id' and from_at in (select from_at from event_chunks order by from_at limit 2 offset 1)`.execute(
    db.query,
  );
  const [{ from_at: old }] = (
    await sql<{
      from_at: string;
    }>`select from_at::text from event_chunks order by from_at offset 3 limit 1`.execute(db.query)
  ).rows as [{ from_at: string }];
  await db.tx((tx) => reopenChunk(tx, old));
  const fields = [
    'agent_name',
    'blueprint_id',
    'deployment_display_name',
    'execution_group_id',
    'logger',
    'node_instance_id',
    'workflow_id',
  ];
  const ranges: ListQuery['extra'][] = [{}, { _range: [`timestamp,${at('59 minutes')},${at('0 minutes')}`] }];
  for (const principal of [admin, ann])
    for (const field of fields)
      for (const [n, descending] of [true, false].entries()) {
        const extra = ranges[(n + field.length) % 2]!;
        const sort = [{ field, descending }];
        const wanted = await ask(principal, { sort, extra, filters: { execution_id: both } });
        const found: string[] = [];
        for (let offset = 0; offset < wanted.total + 50; offset += 50) {
          const page = await ask(principal, { sort, extra, offset, size: 50 });
          expect([field, page.total]).toEqual([field, wanted.total]);
          found.push(...shown(page.items));
        }
        expect([field, descending, found]).toEqual([field, descending, shown(wanted.items)]);
      }
  expect(await wrongChunks(db.query, 10)).toEqual([]);
  await sql`update event_values set total = total + 1 where ctid = (select ctid from event_values where from_at > ${old}::timestamptz limit 1)`.execute(
    db.query,
  );
  expect(await wrongChunks(db.query, 10)).toHaveLength(1);
}, 60_000);

test('chunks of many different texts have none kept', async () => {
  await sql`insert into events (tenant, execution_id, seq, is_log, message, node_instance_id, visibility, created_by, reported_at, created_at)
    select 't', ${executionId}::uuid, n, true, 'text ' || n, 'i' || n, 'tenant', 'ann', app_now(), app_now() - interval '1 hour' + n * interval '1 ms'
    from generate_series(1, 5001) n`.execute(db.query);
  await countEvents(db.query, 6000);
  await sql`update event_looks set seen_at = seen_at - interval '1 minute'`.execute(db.query);
  while (await countEvents(db.query, 6000));
  expect((await chunks()).all).toBe(1);
  const { rows } = await sql`select from event_messages`.execute(db.query);
  expect(rows).toEqual([]);
  const keeps = async (field: string) =>
    (await sql`select from event_values where field = ${field}`.execute(db.query)).rows.length;
  expect([await keeps('node_instance_id'), await keeps('workflow_id')]).toEqual([0, 1]);
  const page = await ask(admin, { filters: { message: ['%5000'] }, include: ['message'] });
  expect(page).toEqual({ items: [{ message: 'text 5000' }], total: 1 });
}, 60_000);

test('retention takes the counts along', async () => {
  await store(100, '400 days');
  await store(100, '1 hour', 1000);
  await sql`create table events_202401 (like events including defaults including constraints)`.execute(
    db.query,
  );
  await sql`alter table events attach partition events_202401 for values from ('2024-01-01Z') to ('2024-02-01Z')`.execute(
    db.query,
  );
  await sql`insert into events (tenant, execution_id, seq, is_log, message, node_name, visibility, created_by, reported_at, created_at)
    select 't', ${executionId}::uuid, n, false, 'm' || n, 'm' || n, 'tenant', 'ann', app_now(), '2024-01-31 23:59:30Z'::timestamptz + n * interval '1 second'
    from generate_series(1, 60) n`.execute(db.query);
  await sql`update events set node_instance_id = 'gone' where created_at < '2024-01-31 23:59:35Z'`.execute(
    db.query,
  );
  await count();
  await expectRight();
  const places = async () =>
    (
      await sql<{ is_gone: boolean }>`select distinct value = 'gone' as is_gone from event_places
        where kind = 'node_instance_id' order by 1`.execute(db.query)
    ).rows.map((row) => row.is_gone);
  expect(await places()).toEqual([false, true]);
  await keepEvents(db, 30);
  expect(await places()).toEqual([false]);
  expect((await ask(admin, {})).total).toBeLessThan(100);
  await expectRight();
  await count();
  await expectRight();
}, 60_000);
