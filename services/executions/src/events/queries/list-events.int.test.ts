import { join } from 'node:path';
import { type ListQuery, listQuery, type Principal } from '@baton/contracts';
import { newId, silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { setFakeNow, testDatabase } from '@baton/testkit';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import { keepEvents } from '../commands/keep-events';
import { specEvents } from '../http/wire-policy';
import { readPartitions } from '../store/event-partitions.sql';
import { listEvents } from './list-events';

const principal = {
  username: 'admin',
  tenant: 't',
  role: 'sys_admin',
  roles: ['sys_admin'],
  permissions: ['administrators'],
  tenants: [],
  isBootstrapAdmin: true,
} as unknown as Principal;

let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Db<DB>;
beforeAll(async () => {
  database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../../migrations') }],
  });
  db = createDb<DB>({
    url: database.url,
    schema: 'executions',
    applicationName: 'events-test',
    log: silentLog,
  });
}, 60_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const executionId = newId();
const store = (count: number, from: string, tenant = 't', id = executionId) =>
  sql`insert into events (tenant, execution_id, seq, is_log, message, visibility, created_by, deployment_id, reported_at, created_at)
    select ${tenant}, ${id}::uuid, n, n % 2 = 0, n::text, 'tenant', 'admin', 'd', ${from}::timestamptz, ${from}::timestamptz + n * interval '1 minute'
    from generate_series(1, ${count}::int) n`.execute(db.query);
const queryOf = (more: Partial<ListQuery>): ListQuery =>
  listQuery({ include: ['message'], sort: [{ field: 'timestamp', descending: false }], size: 10, ...more });
const ask = (more: Partial<ListQuery>) =>
  listEvents(db.query, principal, queryOf(more), { ...specEvents.names, manager: 'm1' });
const texts = async (more: Partial<ListQuery>) =>
  (await ask(more)).items.map((one) => Number((one as { message: string }).message));
const span = (from: number, length: number, step = 1) => Array.from({ length }, (_, i) => from + i * step);

test('pages are the same from either end, by time and within one execution', async () => {
  await store(100, '2031-01-30T23:00:00Z');
  await store(5, '2031-01-30T23:00:00Z', 'other', newId());
  for (const filters of [{}, { execution_id: [executionId] }] as ListQuery['filters'][]) {
    expect(await texts({ filters })).toEqual(span(1, 10));
    expect(await texts({ filters, offset: 80 })).toEqual(span(81, 10));
    expect(await texts({ filters, offset: 95 })).toEqual(span(96, 5));
    expect(await texts({ filters, offset: 20, sort: [{ field: 'timestamp', descending: true }] })).toEqual(
      span(80, 10, -1),
    );
    expect(await texts({ filters, offset: 85, sort: [{ field: 'timestamp', descending: true }] })).toEqual(
      span(15, 10, -1),
    );
    expect(await ask({ filters, offset: 100 })).toEqual({ items: [], total: 100 });
  }
  expect(await texts({ filters: { type: ['platform_log'] }, offset: 40 })).toEqual(span(82, 10, 2));
  expect(await ask({ filters: { execution_id: ['nosuch'] } })).toEqual({ items: [], total: 0 });
}, 60_000);

/** Returns the messages among `texts` that a list with these filters contains. */
async function foundAmong(texts: string[], filters: Record<string, string[]>): Promise<string[]> {
  await sql`delete from events where tenant = 'texts'`.execute(db.query);
  await sql`insert into events (tenant, execution_id, seq, is_log, message, visibility, created_by, reported_at)
    select 'texts', ${newId()}::uuid, 1, true, m, 'tenant', 'admin', app_now() from unnest(${texts}::text[]) m`.execute(
    db.query,
  );
  const names = { ...specEvents.names, manager: 'm1' };
  const page = await listEvents(db.query, { ...principal, tenant: 'texts' }, queryOf({ filters }), names);
  return page.items.map((one) => (one as { message: string }).message);
}

test.each([
  ['a backslash at its end stands for itself', ['%\\'], ['at the end: \\']],
  ['two are one', ['%\\\\'], ['at the end: \\']],
  ['none: what has no message', [], []],
])('the message filter: %s', async (_what, message, expected) => {
  expect(await foundAmong(['at the end: \\', 'no \\ here'], { message })).toEqual(expected);
});

test.each(['%TASK_started%', '%kelvin%', '%iş%', '100\\%%', '%é', '%i%'])(
  'the message filter %s takes letters large or small',
  async (pattern) => {
    const texts = [
      'Task started',
      'task started: é',
      '0 KELVIN',
      '1 \u212aelvin',
      '2 kelvin',
      'Bir İŞ',
      '100% İ',
      '1000',
      'CAFÉ',
    ];
    const found = await foundAmong(texts, { message: [pattern] });
    const { rows } = await sql<{
      message: string;
    }>`select message from events where tenant = 'texts' and message ilike ${pattern}`.execute(db.query);
    expect([...found].sort()).toEqual(rows.map(({ message }) => message).sort());
    expect(found.length).toBeGreaterThan(0);
  },
);

test('months get partitions of their own before they begin; what is too old goes, month by month', async () => {
  await setFakeNow(db.pool, '2031-01-31T12:00:00Z');
  await Promise.all([keepEvents(db, 0), keepEvents(db, 0)]);
  await keepEvents(db, 0);
  // January has events in events_rest already: they stay there.
  expect(await readPartitions(db.query)).toEqual(['events_203102', 'events_203103', 'events_rest']);
  await store(3, '2031-02-10T00:00:00Z', 't', newId());
  await setFakeNow(db.pool, '2031-03-05T00:00:00Z');
  await keepEvents(db, 30);
  expect(await readPartitions(db.query)).toContain('events_203102');
  expect((await ask({})).total).toBe(3);
  await setFakeNow(db.pool, '2031-04-01T00:00:00Z');
  await keepEvents(db, 30);
  expect(await readPartitions(db.query)).toEqual([
    'events_203103',
    'events_203104',
    'events_203105',
    'events_203106',
    'events_rest',
  ]);
  expect((await ask({})).total).toBe(0);
}, 60_000);
