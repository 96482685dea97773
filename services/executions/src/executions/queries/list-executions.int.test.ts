// Pages of executions after a cursor: far in a long list, a page reads only the rows that it shows, not the rows before them.
import { join } from 'node:path';
import { type ListQuery, listQuery } from '@baton/contracts';
import { silentLog } from '@baton/kernel';
import { createDb, type Db } from '@baton/postgres';
import { testDatabase, vacuumAnalyze } from '@baton/testkit';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';
import { admin } from '../../testing/http-rig';
import { explained, recordedReads } from '../../testing/recorded-statements';
import { listExecutions } from './list-executions';

const ROWS = 30_000;
const PAGE = 50;
let database: Awaited<ReturnType<typeof testDatabase>>;
let db: Db<DB>;
beforeAll(async () => {
  database = await testDatabase({
    migrations: [{ schema: 'executions', dir: join(__dirname, '../../../migrations') }],
  });
  db = createDb<DB>({
    url: database.url,
    schema: 'executions',
    applicationName: 'list-test',
    log: silentLog,
  });
  // Ten executions have the same creation time.
  await sql`insert into executions (id, tenant, request_id, payload_hash, workflow_id, visibility, created_by, status, phase, token_hash, created_at)
    select gen_random_uuid(), 'default_tenant', n::text, '', 'install', 'tenant', 'admin', 'terminated', 'ended', n::text,
      '2026-01-01Z'::timestamptz + n / 10 * interval '1 microsecond'
    from generate_series(1, ${ROWS}::int) n`.execute(db.query);
  await vacuumAnalyze(db.pool, 'executions');
}, 120_000);
afterAll(async () => {
  await db?.close();
  await database?.drop();
});

const page = (query: Db<DB>['query'], descending: boolean, after: string, more: Partial<ListQuery> = {}) =>
  listExecutions(
    query,
    admin,
    listQuery({
      include: ['id'],
      sort: [{ field: 'created_at', descending }],
      size: PAGE,
      keyset: { after, hasTotal: false },
      ...more,
    }),
  );

test.each([false, true])(
  'newest first: %s',
  async (descending) => {
    const most = await page(db.query, descending, '', { size: ROWS - 2 * PAGE });
    const reads = recordedReads(db);
    const { items, next } = await page(reads.query, descending, most.next!);
    expect(items).toHaveLength(PAGE);
    const last = await page(db.query, descending, next!);
    expect([last.items.length, last.next]).toEqual([PAGE, null]);
    const all = [...most.items, ...items, ...last.items].map((one) => (one as { id: string }).id);
    expect(new Set(all).size).toBe(ROWS);
    const [asked, ...others] = reads.take();
    expect(others).toEqual([]);
    expect((await explained(db, [asked!])).rows).toBeLessThan(5 * PAGE);
  },
  30_000,
);
