// Streams from the tail and with filters: which rows they read, which events they send, and how they continue after a disconnect.
import { join } from 'node:path';
import type { ListQuery } from '@baton/contracts';
import type { StreamEvent } from '@baton/http';
import { newId, silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { testDatabase } from '@baton/testkit';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import { explained, recordedReads } from '../../testing/recorded-statements';
import type { StreamStart } from '../domain/stream-start';
import { specEvents } from '../http/wire-policy';
import { createStreamHub } from '../stream-hub';
import { streamEvents } from './stream-events';

const EVENTS = 120_000;
let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Db<DB>;
let reads: ReturnType<typeof recordedReads>;
const hub = createStreamHub();
const executionId = newId();

beforeAll(async () => {
  database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../../migrations') }],
  });
  db = createDb<DB>({
    url: database.url,
    schema: 'executions',
    applicationName: 'stream-test',
    log: silentLog,
  });
  reads = recordedReads(db);
  await sql`insert into executions (id, tenant, request_id, payload_hash, workflow_id, visibility, created_by, status, phase, token_hash, last_event_seq)
    values (${executionId}, 't', ${executionId}, '', 'install', 'tenant', 'admin', 'started', 'running', '', ${EVENTS})`.execute(
    db.query,
  );
  await append(1, EVENTS);
  await sql`analyze events`.execute(db.query);
}, 120_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

/** Stores events. Every third is a log line; every 10,000th log line an error; the nodes are n_0 to n_4. */
const append = (from: number, to: number) =>
  sql`insert into events (tenant, execution_id, seq, is_log, level, event_type, node_instance_id, message, visibility, created_by, reported_at)
    select 't', ${executionId}::uuid, n, n % 3 = 0, case when n % 3 = 0 then case when n % 30000 = 0 then 'error' else 'info' end end,
      case when n % 3 > 0 then 'task_succeeded' end, 'n_' || n % 5, 'Step ' || n || ' of 100% done', 'tenant', 'admin', app_now()
    from generate_series(${from}::int, ${to}::int) n`.execute(db.query);

async function addEvents(count: number): Promise<void> {
  const { rows } = await sql<{ last: number }>`
    update executions set last_event_seq = last_event_seq + ${count} where id = ${executionId} returning last_event_seq as last`.execute(
    db.query,
  );
  await append(rows[0]!.last - count + 1, rows[0]!.last);
  hub.notify(executionId);
}

const last = async () =>
  (
    await sql<{
      last: number;
    }>`select last_event_seq as last from executions where id = ${executionId}`.execute(db.query)
  ).rows[0]!.last;

const tail = (count: number): StreamStart => ({ kind: 'tail', count });
const behind = (seq: number): StreamStart => ({ kind: 'after', seq });

function open(start: StreamStart, filters: ListQuery['filters'] = {}) {
  const abort = new AbortController();
  const deps = { db: { ...db, query: reads.query }, hub, names: { ...specEvents.names, manager: 'm' } };
  const stream = streamEvents(deps, { executionId, start, filters }, abort.signal);
  return {
    async take(count: number): Promise<StreamEvent[]> {
      const taken: StreamEvent[] = [];
      while (taken.length < count) taken.push((await stream.next()).value as StreamEvent);
      return taken;
    },
    async close() {
      abort.abort();
      await stream.return(undefined);
    },
  };
}

async function taken(start: StreamStart, count: number, filters: ListQuery['filters'] = {}) {
  const stream = open(start, filters);
  const events = await stream.take(count);
  await stream.close();
  return events;
}
const ids = (events: readonly StreamEvent[]) => events.map(({ id }) => Number(id));

/**
 * Measures the reads of events that `work` makes in PostgreSQL: rows taken from tables and indexes, kinds of scans, and
 * statements.
 */
async function readsOf(
  work: () => Promise<unknown>,
): Promise<{ rows: number; ways: string[]; statements: number }> {
  reads.take();
  await work();
  const asked = reads.take().filter(({ text }) => text.includes('from events v'));
  return { ...(await explained(db, asked)), statements: asked.length };
}

test('a tail reads about as many rows as it tells, by the index', async () => {
  const cost = await readsOf(async () => {
    const [window, ...events] = await taken(tail(500), 501);
    expect(window).toEqual({
      id: String(EVENTS - 500),
      event: 'window',
      data: { first_seq: EVENTS - 499, last_seq: EVENTS, total: EVENTS },
    });
    expect(ids(events)).toEqual(Array.from({ length: 500 }, (_, i) => EVENTS - 499 + i));
    expect(events[0]).toMatchObject({ event: 'event', data: { type: 'platform_event' } });
  });
  expect(cost.rows).toBeLessThanOrEqual(1_500);
  expect(cost.ways.join()).toMatch(/Index/);
  expect(cost.ways).not.toContain('Seq Scan');
  expect(cost.statements).toBeLessThanOrEqual(3);
});

test('a filtered tail goes back slice by slice until it is full', async () => {
  const filters = { level: ['error'] };
  const few = await readsOf(async () => {
    const [window, ...events] = await taken(tail(2), 3, filters);
    expect(window!.data).toEqual({ first_seq: 90_000, last_seq: 120_000, total: EVENTS });
    expect(ids(events)).toEqual([90_000, 120_000]);
  });
  expect(few.rows).toBeLessThan(45_000);
  const all = await taken(tail(10_000), 5, filters);
  expect(ids(all)).toEqual([29_999, 30_000, 60_000, 90_000, 120_000]);
});

test('filters: kinds, texts as they are written, instances, and levels beside types', async () => {
  const node = await taken(tail(3), 4, { node_instance_id: ['n_2', 'n_4'], type: ['platform_log'] });
  expect(
    ids(node)
      .slice(1)
      .every((seq) => seq % 3 === 0 && [2, 4].includes(seq % 5)),
  ).toBe(true);
  const text = await taken(tail(10), 2, { message: ['%step 119999 of 100\\% DONE%'] });
  expect(ids(text)).toEqual([119_998, 119_999]);
  const both = await taken(tail(2), 3, { level: ['error'], event_type: ['task_succeeded'] });
  expect(ids(both).slice(1)).toEqual([119_999, 120_000]);
  expect(() => open(tail(1), { type: ['nonsense'] })).toThrow(/unknown kind "nonsense"/);
});

test('a filtered stream goes on behind its last id with the same filters, and new events come', async () => {
  const filters = { node_instance_id: ['n_0'], type: ['platform_log'] };
  const first = await taken(tail(4), 3, filters);
  const stream = open(behind(Number(first.at(-1)!.id)), filters);
  const before = await last();
  const [rest] = await stream.take(2);
  expect(ids([rest!])).toEqual([Number(first.at(-1)!.id) + 15]);
  await addEvents(30);
  expect(ids(await stream.take(2))).toEqual([before + 15, before + 30]);
  await stream.close();
});

test('a cut right after the window misses nothing that came meanwhile', async () => {
  const [window] = await taken(tail(2), 1);
  const from = Number(window!.id);
  await addEvents(700);
  const events = await taken(behind(from), 702);
  expect(ids(events)).toEqual(Array.from({ length: 702 }, (_, i) => from + 1 + i));
});

test('an empty tail tells only new events, and nothing of those that its filter leaves out', async () => {
  const filters = { message: ['%no such text%'] };
  const stream = open(tail(5), filters);
  const total = await last();
  expect(await stream.take(1)).toEqual([
    { id: String(total), event: 'window', data: { first_seq: null, last_seq: null, total } },
  ]);
  const next = stream.take(1);
  await addEvents(20);
  const cost = await readsOf(async () => {
    await sql`update executions set status = 'terminated', phase = 'ended' where id = ${executionId}`.execute(
      db.query,
    );
    hub.notify(executionId);
    expect((await next)[0]).toMatchObject({ event: 'end', data: { status: 'terminated' } });
  });
  expect(cost.rows).toBeLessThanOrEqual(20);
  await stream.close();
});

test('streams end where an execution has ended, also one whose last events were deleted', async () => {
  const total = await last();
  expect(ids(await taken(behind(total - 2), 3)).slice(0, 2)).toEqual([total - 1, total]);
  await sql`delete from events where execution_id = ${executionId} and seq > ${total - 5}`.execute(db.query);
  expect((await taken(behind(total - 2), 1))[0]).toMatchObject({ event: 'end' });
  expect((await taken(tail(0), 2)).map(({ event }) => event)).toEqual(['window', 'end']);
});
