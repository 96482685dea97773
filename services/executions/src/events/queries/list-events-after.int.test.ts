// Lists of events from a cursor on: a page costs what the first one costs wherever it lies, and what does not belong is refused.
// That the pages are those of the whole list: events/store/event-chunks.int.test.ts.
import { join } from 'node:path';
import { type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { newId, silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { testDatabase } from '@baton/testkit';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import { explained, recordedReads } from '../../testing/recorded-statements';
import { specEvents } from '../http/wire-policy';
import { countEvents } from '../store/event-chunks.sql';
import { listEvents } from './list-events';

const admin = {
  username: 'admin',
  tenant: 't',
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: ['administrators'],
  tenants: [],
  isBootstrapAdmin: true,
} as unknown as Principal;

const EVENTS = 60_000;
const CHUNK = 1_000;
const PAGE = 50;
const executionId = newId();

let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Db<DB>;
let reads: ReturnType<typeof recordedReads>;
beforeAll(async () => {
  database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../../migrations') }],
  });
  db = createDb<DB>({
    url: database.url,
    schema: 'executions',
    applicationName: 'events-after-test',
    log: silentLog,
  });
  reads = recordedReads(db);
  // A hundred of six thousand are failures; three at an instant.
  await sql`insert into events (tenant, execution_id, seq, is_log, event_type, message, node_name, visibility, created_by, deployment_id, reported_at, created_at)
    select 't', ${executionId}::uuid, n, false, case when n % 6000 < 100 then 'task_failed' else 'task_succeeded' end, 'Step ' || n, n::text,
      'tenant', 'admin', 'd', t.at, t.at
    from generate_series(1, ${EVENTS}::int) n, lateral (select date_trunc('hour', app_now()) - interval '3 hours' + n / 3 * interval '100 ms' as at) t`.execute(
    db.query,
  );
  await countEvents(db.query, CHUNK);
  await sql`update event_looks set seen_at = seen_at - interval '1 minute'`.execute(db.query);
  while (await countEvents(db.query, CHUNK));
  for (const table of ['events', 'event_counts', 'event_chunks'])
    await sql`analyze ${sql.ref(table)}`.execute(db.query);
}, 120_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const page = (query: Db<DB>['query'], after: string, more: Partial<ListQuery>, as = admin) => {
  const list = listQuery({
    include: ['node_name'],
    sort: [{ field: 'timestamp', descending: true }],
    size: PAGE,
    keyset: { after, hasTotal: false },
    ...more,
  });
  return listEvents(query, as, list, { ...specEvents.names, manager: 'm1' });
};
const names = (items: object[]) => items.map((item) => Number((item as { node_name: string }).node_name));

const lists: [string, ListQuery['filters'], (n: number) => boolean][] = [
  ['all events', {}, () => true],
  ['a type that few have', { event_type: ['task_failed'] }, (n) => n % 6000 < 100],
  ['one execution', { execution_id: [executionId] }, () => true],
  ['one deployment', { deployment_id: ['d'] }, () => true],
];

describe.each([true, false])('newest first: %s', (descending) => {
  test.each(lists)('a page of %s costs the same far from the first', async (_what, filters, isIn) => {
    const more = () => ({ filters: { ...filters }, sort: [{ field: 'timestamp', descending }] });
    const all = Array.from({ length: EVENTS }, (_, i) => i + 1).filter(isIn);
    if (descending) all.reverse();
    const middle = all.length / 2;
    // A large page is the quick way to a far one.
    const { next } = await page(db.query, '', { ...more(), size: middle });
    const costs: number[] = [];
    for (const [after, from] of [
      ['', 0],
      [next!, middle],
    ] as const) {
      reads.take();
      const { items } = await page(reads.query, after, more());
      expect(names(items)).toEqual(all.slice(from, from + PAGE));
      costs.push((await explained(db, reads.take())).rows);
    }
    const [first, later] = costs as [number, number];
    expect(later).toBeLessThan(1.5 * first + PAGE);
    // A few chunks at most, and what counts say of the others.
    expect(later).toBeLessThan(4 * CHUNK);
  });
});

test('what goes with no cursor is refused, and a cursor of another list', async () => {
  const refused = async (after: string, more: Partial<ListQuery>, as = admin) =>
    await page(db.query, after, more, as).then(
      () => null,
      ({ code, details }) => [code, details.field],
    );
  const { next } = await page(db.query, '', { filters: { event_type: ['task_failed'], level: ['error'] } });
  const filters = () => ({ event_type: ['task_failed'], level: ['error'] });
  expect(await refused(next!, { filters: filters() })).toBeNull();
  expect(await refused('', { sort: [{ field: 'level', descending: false }] })).toEqual([
    'bad_parameters_error',
    '_sort',
  ]);
  expect(await refused('', { sort: [{ field: 'reported_timestamp', descending: false }] })).not.toBeNull();
  expect(await refused('', { offset: 5 })).toEqual(['bad_parameters_error', '_offset']);
  const isOther = ['bad_parameters_error', '_after'];
  expect(await refused('nonsense', { filters: filters() })).toEqual(isOther);
  expect(await refused(next!, { filters: { ...filters(), level: ['info'] } })).toEqual(isOther);
  expect(await refused(next!, { filters: filters(), extra: { _range: ['timestamp,2026-01-01,'] } })).toEqual(
    isOther,
  );
  expect(await refused(next!, { filters: filters() }, { ...admin, tenant: 'other' })).toEqual(isOther);
});

test('the total is told where it is wanted', async () => {
  const { total, next } = await page(db.query, '', { keyset: { after: '', hasTotal: true } });
  expect([total, typeof next]).toEqual([EVENTS, 'string']);
  const later = await page(db.query, next!, {
    keyset: { after: next!, hasTotal: true },
    filters: {},
  });
  expect([later.total, later.items.length]).toEqual([EVENTS, PAGE]);
});
