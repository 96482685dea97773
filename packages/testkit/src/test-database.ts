import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { randomSuffix, silentLog } from '@baton/kernel';
import { closedTenantsText, rowSecurityText, runMigrations } from '@baton/postgres';
import pg from 'pg';
import { testUrls, withDatabase } from './services';

export interface TestDatabase {
  url: string;
  name: string;
  /** Ends the connections of the database and drops it. */
  drop(): Promise<void>;
}

export interface TestDatabaseOptions {
  /** Migration folders, run in this order. Empty: an empty database. */
  migrations: readonly { schema: string; dir: string }[];
  /** Server to use, default `testUrls.postgres()`. */
  serverUrl?: string;
}

const PREFIX = 'baton_test_';
const LOCK = 7_236_002;

/**
 * Creates a separate database for a test file, cloned from a template that was migrated once per content of the migrations (some 50
 * ms instead of all migrations). Call `drop` in afterAll; later runs remove databases that a killed run left.
 */
export async function testDatabase(options: TestDatabaseOptions): Promise<TestDatabase> {
  const serverUrl = options.serverUrl ?? testUrls.postgres();
  const name = `${PREFIX}${process.pid}_${randomSuffix(8)}`;
  await withServer(serverUrl, async (server) => {
    // PostgreSQL cannot create several databases from one template in parallel; to wait here is cheaper than to fail there.
    await server.query('select pg_advisory_lock($1)', [LOCK]);
    const template = await ensureTemplate(server, serverUrl, options.migrations);
    await server.query(`create database "${name}" template "${template}" strategy wal_log`);
    if (!options.serverUrl) await server.query(withoutDiskWaits(name));
  });
  return {
    url: withDatabase(serverUrl, name),
    name,
    drop: () =>
      withServer(serverUrl, async (server) => {
        await dropWithRoles(server, name);
      }),
  };
}

/**
 * Statement after which no commit in this database waits for the disk: on a virtual disk such a wait is 3 ms, ten times the
 * statement. Only a crash of the server would show a difference, and tests that crash a server start their own.
 */
export const withoutDiskWaits = (database: string): string =>
  `alter database "${database}" set synchronous_commit = off`;

/**
 * Drops the database and the login roles of services (`loginName`): their names begin with the database's name, and they own
 * nothing elsewhere.
 */
export async function dropWithRoles(server: pg.Client, database: string): Promise<void> {
  await server.query(`drop database if exists "${database}" with (force)`);
  const { rows } = await server.query<{ rolname: string }>(
    'select rolname from pg_roles where starts_with(rolname, $1)',
    [`${database}_`],
  );
  for (const { rolname } of rows) await server.query(`drop role if exists "${rolname}"`);
}

async function withServer<T>(url: string, work: (server: pg.Client) => Promise<T>): Promise<T> {
  const server = new pg.Client({ connectionString: url });
  await server.connect();
  try {
    return await work(server);
  } finally {
    await server.end();
  }
}

async function ensureTemplate(
  server: pg.Client,
  serverUrl: string,
  migrations: TestDatabaseOptions['migrations'],
): Promise<string> {
  const name = `${PREFIX}template_${await digestOf(migrations)}`;
  const found = await server.query('select 1 from pg_database where datname = $1', [name]);
  if (found.rowCount === 1) return name;
  await removeAbandoned(server);
  const draft = `${name}_draft`;
  await server.query(`drop database if exists "${draft}" with (force)`);
  await server.query(`create database "${draft}"`);
  for (const { schema, dir } of migrations) {
    await runMigrations({ url: withDatabase(serverUrl, draft), schema, dir, log: silentLog });
  }
  // The template gets its final name only when it is complete.
  await server.query(`alter database "${draft}" rename to "${name}"`);
  return name;
}

async function digestOf(migrations: TestDatabaseOptions['migrations']): Promise<string> {
  const hash = createHash('sha256').update(rowSecurityText).update(closedTenantsText);
  for (const { schema, dir } of migrations) {
    hash.update(`${schema}\n`);
    for (const file of (await readdir(dir)).filter((f) => f.endsWith('.sql')).sort()) {
      hash.update(`${file}\n`).update(await readFile(join(dir, file)));
    }
  }
  return hash.digest('hex').slice(0, 16);
}

/** Removes databases of dead test processes, and templates of migrations of past days. */
async function removeAbandoned(server: pg.Client): Promise<void> {
  const { rows } = await server.query<{ datname: string; is_old: boolean }>(
    `select datname, (pg_stat_file('base/' || oid || '/PG_VERSION', true)).modification < now() - interval '2 days' as is_old
     from pg_database where datname like $1`,
    [`${PREFIX}%`],
  );
  for (const { datname, is_old: isOld } of rows) {
    const pid = /^baton_test_(\d+)_/.exec(datname)?.[1];
    const isAbandoned = pid === undefined ? isOld : !isAlive(Number(pid));
    if (isAbandoned) await dropWithRoles(server, datname);
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
