/** The manager is killed in the middle of its work: the next process finishes it, only from the rows. */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort, type TestDatabase, testDatabase } from '@baton/testkit';
import pg from 'pg';

jest.setTimeout(240_000);
const START = { deadlineMs: 90_000 };
const PASSWORD = 'password of the test';

describe('a manager that is killed', () => {
  let database: TestDatabase;
  let sql: pg.Client;
  let home: string;
  let port: number;
  let child: ChildProcess;

  const call = async (method: string, path: string, body?: unknown) => {
    const answer = await fetch(`http://127.0.0.1:${port}/api/v3.1${path}`, {
      method,
      headers: {
        tenant: 'default_tenant',
        authorization: `Basic ${Buffer.from(`admin:${PASSWORD}`).toString('base64')}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await answer.text();
    return { status: answer.status, body: text === '' ? null : JSON.parse(text) };
  };
  const spawned = () =>
    spawn(process.execPath, ['--import', 'tsx', join(__dirname, 'main.ts')], {
      env: {
        ...process.env,
        BATON_HOME: home,
        BATON_PORT: String(port),
        BATON_WORKERS: '0',
        BATON_ADMIN_PASSWORD: PASSWORD,
        BATON_LOG_LEVEL: 'silent',
        DATABASE_URL: database.url,
      },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  const start = async () => {
    child = spawned();
    await eventually(async () => {
      // While the manager was down, a connection of another program may have had its port for a moment.
      if (child.exitCode !== null) child = spawned();
      expect((await call('GET', '/status')).status).toBe(200);
    }, START);
  };
  const end = (signal: NodeJS.Signals) =>
    new Promise<void>((resolve) => {
      if (child.exitCode !== null) return resolve();
      child.once('exit', () => resolve());
      child.kill(signal);
    });
  const jobState = async (id: string) =>
    (
      await sql.query(
        'select state from cluster_status.snapshot_jobs where snapshot_id = $1 order by created_at desc',
        [id],
      )
    ).rows[0]?.state;
  /** Holds a lock for which the manager's work must wait; returns the function that releases it. */
  const hold = async (statement: string) => {
    const holder = new pg.Client({ connectionString: database.url });
    await holder.connect();
    await holder.query('begin');
    await holder.query(statement);
    return () => holder.end();
  };
  const isWaiting = (table: string) => async () =>
    (
      await sql.query(
        `select 1 from pg_locks l join pg_class c on c.oid = l.relation where not l.granted and c.relname = $1`,
        [table],
      )
    ).rowCount! > 0;

  beforeAll(async () => {
    database = await testDatabase({ migrations: [] });
    home = mkdtempSync(join(tmpdir(), 'baton-home-'));
    port = await freePort();
    sql = new pg.Client({ connectionString: database.url });
    await start();
    await sql.connect();
  });
  afterAll(async () => {
    await end('SIGTERM');
    await sql.end();
    await database.drop();
    rmSync(home, { recursive: true, force: true });
  });

  it('while it makes a snapshot, makes it after its start', async () => {
    expect((await call('PUT', '/secrets/before', { value: 'x' })).status).toBe(200);
    const letGo = await hold('lock table catalog.blueprints in access exclusive mode');
    const { body } = await call('PUT', '/snapshots/s1', {});
    await eventually(isWaiting('blueprints'), START);
    await end('SIGKILL');
    await letGo();
    await start();
    await eventually(
      async () => (await call('GET', `/executions/${body.id}`)).body.status === 'terminated',
      START,
    );
    expect((await call('GET', '/snapshots/s1')).body.status).toBe('created');
  });

  it('while it prepares a restore, restores after its start', async () => {
    await call('PUT', '/secrets/early', { value: 'y' });
    // The rehearsal of catalog reads its tables and waits here.
    const letGo = await hold('lock table catalog.archives in access exclusive mode');
    const { body } = await call('POST', '/snapshots/s1/restore', { force: true });
    await eventually(isWaiting('archives'), START);
    expect(await jobState('s1')).toBe('preparing');
    await end('SIGKILL');
    await letGo();
    expect((await sql.query('select key from secrets.secrets order by key')).rows).toHaveLength(2);
    await start();
    await eventually(
      async () => (await call('GET', `/executions/${body.id}`)).body.status === 'terminated',
      START,
    );
    expect((await call('GET', '/secrets/early')).status).toBe(404);
  });

  it('while the services switch, ends in the new state everywhere', async () => {
    await call('PUT', '/secrets/late', { value: 'z' });
    await call('PUT', '/sites/late', {});
    // Executions is the last service to switch.
    const letGo = await hold('lock table executions.tasks in row exclusive mode');
    const { body } = await call('POST', '/snapshots/s1/restore', { force: true });
    await eventually(isWaiting('tasks'), START);
    expect(await jobState('s1')).toBe('switching');
    expect((await sql.query('select key from secrets.secrets order by key')).rows).toEqual([
      { key: 'before' },
    ]);
    await end('SIGKILL');
    await letGo();
    await start();
    await eventually(
      async () => (await call('GET', `/executions/${body.id}`)).body.status === 'terminated',
      START,
    );
    expect((await call('GET', '/sites/late')).status).toBe(404);
    expect((await call('GET', '/snapshot-status')).body).toEqual({ status: 'not-running' });
    const { rows } = await sql.query('select count(*) from executions.snapshot_staging');
    expect(rows[0].count).toBe('0');
  });
});
