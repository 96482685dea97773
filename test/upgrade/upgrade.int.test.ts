// A manager of an older release was killed while executions were running (2460800.sql.gz; README.md describes how it was made).
// The current migrations and processes take over its database: nothing is lost, and the running executions end.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import type { Client } from '@baton/client';
import { eventually, type TestDatabase, testDatabase } from '@baton/testkit';
import pg from 'pg';
import { migrationEnv, serviceDatabaseUrls } from '../harness/database-logins';
import { type Fleet, startFleet } from '../harness/fleet';
import { adminClient, call } from '../harness/session';

const MIGRATE = join(__dirname, '../../dist/apps/standalone/migrate.main.js');
/** Tables with temporary work, or with rows that migrations write anew. */
const COMES_AND_GOES = /\.(outbox|inbox|instances|managers|schema_migrations|row_counts|workers)$/;

let database: TestDatabase;
let fleet: Fleet;
let client: Client;
/** Number of rows of each table before the upgrade. */
let before: Map<string, number>;
let stored: pg.Client;
/** One login per service, which the older release did not have. */
let logins: Record<string, string>;

beforeAll(async () => {
  database = await testDatabase({ migrations: [] });
  logins = migrationEnv(serviceDatabaseUrls(database.url));
  stored = new pg.Client({ connectionString: database.url });
  await stored.connect();
  await stored.query(gunzipSync(readFileSync(join(__dirname, '2460800.sql.gz'))).toString('utf8'));
  await stored.query(`set search_path = public`);
  before = await rowsOfTables();
}, 60_000);
afterAll(async () => {
  await fleet?.stop();
  await stored?.end();
  await database?.drop();
}, 60_000);

async function rowsOfTables(): Promise<Map<string, number>> {
  const { rows } = await stored.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables t
     where schemaname in ('executions', 'deployments', 'catalog', 'identity', 'secrets', 'cluster_status')
       and not exists (select from pg_inherits where inhrelid = format('%I.%I', schemaname, tablename)::regclass)`,
  );
  const counts = new Map<string, number>();
  for (const { name } of rows) {
    if (COMES_AND_GOES.test(name)) continue;
    const found = await stored.query<{ n: number }>(`select count(*)::int as n from ${name}`);
    counts.set(name, found.rows[0]!.n);
  }
  return counts;
}

const migrate = async (): Promise<string> => {
  const env = { ...process.env, DATABASE_URL: database.url, ...logins, BATON_LOG_LEVEL: 'info' };
  return (await promisify(execFile)(process.execPath, [MIGRATE], { env })).stdout;
};
const executionOf = async (deployment: string, workflow = 'install') =>
  (await call(client, 'listExecutions', {}, undefined, { deployment_id: deployment, workflow_id: workflow }))
    .items;

it('has its tables brought up to date by two processes at once, and loses no row', async () => {
  await Promise.all([migrate(), migrate()]);
  const names = async () =>
    (await stored.query('select name from executions.schema_migrations order by id')).rows.map(
      (row) => row.name,
    );
  const applied = await names();
  expect(new Set(applied).size).toBe(applied.length);
  expect(applied.length).toBeGreaterThan(6);
  await migrate();
  expect(await names()).toEqual(applied);
  const after = await rowsOfTables();
  const lost = [...before].filter(([name, count]) => after.has(name) && after.get(name) !== count);
  expect(lost).toEqual([]);
  expect(before.get('executions.executions')).toBe(8);
}, 60_000);

it('goes on with what was under way: executions, and a group one after the other', async () => {
  fleet = await startFleet({
    mode: 'standalone',
    databaseUrl: database.url,
    env: {
      BATON_WORKER_HANDLERS: join(__dirname, 'handlers.js'),
      BATON_INTERNAL_KEY: 'fleet-internal-key-0123456789',
      BATON_SECRETS_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  });
  client = adminClient(fleet);
  const old = await stored.query<{ seq: number; message: string }>(
    `select v.seq, v.message from executions.events v join executions.executions e on e.id = v.execution_id
     where e.deployment_id = 'busy' and e.workflow_id = 'install' order by v.seq`,
  );
  for (const deployment of ['busy', 'pair-1', 'pair-2'])
    await eventually(
      async () => expect(await executionOf(deployment)).toMatchObject([{ status: 'terminated', error: '' }]),
      { deadlineMs: 60_000 },
    );
  const events = await stored.query<{ seq: string; message: string; event_type: string | null }>(
    `select v.seq, v.message, v.event_type from executions.events v join executions.executions e on e.id = v.execution_id
     where e.deployment_id = 'busy' and e.workflow_id = 'install' order by v.seq`,
  );
  expect(events.rows.map((row) => Number(row.seq))).toEqual(events.rows.map((_, i) => i + 1));
  expect(events.rows.slice(0, old.rows.length).map((row) => row.message)).toEqual(
    old.rows.map((row) => row.message),
  );
  expect(events.rows.filter((row) => row.event_type === 'workflow_succeeded')).toHaveLength(1);
  // Operations that had succeeded before did not run again.
  expect(events.rows.filter((row) => row.message === `Task succeeded 'op.quick' - quick`)).toHaveLength(3);
  for (const deployment of ['busy', 'pair-1', 'pair-2']) {
    expect(await call(client, 'getDeployment', { id: deployment })).toMatchObject({
      installation_status: 'active',
    });
    const { outputs } = await call(client, 'getDeploymentOutputs', { id: deployment });
    expect(outputs).toEqual({ seen: 'before the upgrade' });
  }
}, 120_000);

it('keeps what waits for its time, lists with their totals, groups and secrets', async () => {
  expect(await executionOf('idle')).toMatchObject([{ status: 'scheduled' }]);
  const schedule = await call(client, 'getExecutionSchedule', { schedule_id: 'yearly' }, undefined, {
    deployment_id: 'idle',
  });
  expect(schedule).toMatchObject({ workflow_id: 'install', enabled: true });
  expect(schedule.next_occurrence).toMatch(/^2031-01-01/);
  const lists = {
    listExecutions: 8,
    listDeployments: 4,
    listNodes: 8,
    listNodeInstances: 8,
    listBlueprints: 1,
  };
  for (const [list, total] of Object.entries(lists)) {
    const page = await call(client, list, {});
    expect([list, page.metadata.pagination.total, page.items.length]).toEqual([list, total, total]);
  }
  const group = await call(client, 'getDeploymentGroup', { id: 'pair' });
  expect(group.deployment_ids).toEqual(['pair-1', 'pair-2']);
  const { items } = await call(client, 'listExecutionGroups', {}, undefined, { _get_data: true });
  expect(items).toMatchObject([{ workflow_id: 'install', concurrency: 1, status: 'terminated' }]);
  expect((await call(client, 'getSecret', { secret_key: 'kept' })).value).toBe('as it was');
  expect((await call(client, 'examine', {})).items).toEqual([]);
}, 60_000);
