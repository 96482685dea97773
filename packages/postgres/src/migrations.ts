import { readdir } from 'node:fs/promises';
import { afterDelay, type Log } from '@baton/kernel';
import { postgresConnection, type TlsSource } from '@baton/tls';
import pg from 'pg';
import { guardTenants, isGuarded, makeTenantGuard } from './closed-tenants';
import { loadMigrations } from './migration-loader';
import { isSecured, secureRows } from './row-security';
import { handOverSchema, isHandedOver, type ServiceLogin, withLogin } from './service-logins';
import { APP_NOW } from './sql-fragments';

export interface MigrationOptions {
  url: string;
  /** Authorities to trust where `sslmode` in the address asks for TLS. */
  trust?: TlsSource | null | undefined;
  /** Created when absent. */
  schema: string;
  /** Folder of `0001_name.sql` files; forward only, each in a separate transaction, or marked `, without transaction`. */
  dir: string;
  log: Log;
  /** False: creates no policies that hold requests to their tenant. Default true. */
  hasRowSecurity?: boolean;
  /** Role that is to own the schema (`ensureLogins` has created it); the files run as this role. Default: the user of `url`. */
  login?: ServiceLogin;
}

const TABLE = 'schema_migrations';
/** One runner per database at a time; the others wait. The number only has to be ours. */
export const RUNNERS_LOCK = 7_236_001;
const LOCK_RETRY_MS = 50;

// `app_now` is stable, so that `due_at < app_now()` may use an index; a session of a test may stop its clock. It is in plpgsql,
// whose plan a session keeps: a function in SQL is planned anew by each statement that calls it (15 us, a fifth of a small
// statement).
const BOOTSTRAP = `
create schema if not exists baton;
create or replace function baton.app_now() returns timestamptz language plpgsql stable parallel safe as $$
begin
  return ${APP_NOW};
end $$;`;

/**
 * Applies the missing migration files in `dir` to `schema`; returns the names of the files it ran. Any number of processes may do
 * this at once. Costs a few queries when there is nothing to do. A crash leaves the files that were committed; the next run goes
 * on.
 * @throws when a file fails (its transaction is rolled back) or comes before one that ran already.
 */
export async function runMigrations(options: MigrationOptions): Promise<string[]> {
  const names = (await readdir(options.dir))
    .filter((file) => file.endsWith('.sql'))
    .map((file) => file.slice(0, -'.sql'.length))
    .sort();
  const client = new pg.Client({
    ...postgresConnection(options.url, options.trust),
    application_name: 'baton-migrations',
  });
  await client.connect();
  try {
    if (await isDone(client, options, names)) return [];
    await lockInTurn(client);
    if (await isDone(client, options, names)) return [];
    await client.query(BOOTSTRAP);
    await makeTenantGuard(client, options.login?.role);
    return await asOwner(client, options, async (owner) => {
      const ran = await runLibrary(owner.client, options);
      await guardTenants(owner.client, options.schema);
      if (options.hasRowSecurity !== false) await secureRows(client, options.schema, owner);
      return ran;
    });
  } finally {
    // Ends the session and with it the lock.
    await client.end();
  }
}

/**
 * Takes the lock by polling. A session that waits inside PostgreSQL holds a snapshot, and an index that is built concurrently waits
 * for every snapshot, so that both would wait for ever.
 */
async function lockInTurn(client: pg.Client): Promise<void> {
  const isTaken = async () =>
    (await client.query('select pg_try_advisory_lock($1) as is_taken', [RUNNERS_LOCK])).rows[0]
      .is_taken as boolean;
  while (!(await isTaken())) await new Promise<void>((resolve) => afterDelay(LOCK_RETRY_MS, resolve));
}

type Owner = { client: pg.Client; role: string | null };

/**
 * Runs `work` as the owner of the schema, on a separate connection and without SET ROLE: code that a service has put into its
 * tables must not run in a session that can go back to the rights of the migrating user.
 */
async function asOwner<T>(
  client: pg.Client,
  { url, trust, schema, login }: MigrationOptions,
  work: (owner: Owner) => Promise<T>,
): Promise<T> {
  if (!login) return await work({ client, role: null });
  await handOverSchema(client, schema, login.role);
  const own = new pg.Client({
    ...postgresConnection(withLogin(url, login), trust),
    application_name: 'baton-migrations',
  });
  await own.connect();
  try {
    return await work({ client: own, role: login.role });
  } finally {
    await own.end();
  }
}

async function isDone(client: pg.Client, options: MigrationOptions, names: string[]): Promise<boolean> {
  const { schema, login } = options;
  if (login && !(await isHandedOver(client, schema, login.role))) return false;
  if (!(await isUpToDate(client, schema, names))) return false;
  if (!(await isGuarded(client, schema))) return false;
  if (options.hasRowSecurity === false) return true;
  return await isSecured(client, schema, login?.role);
}

async function isUpToDate(client: pg.Client, schema: string, names: string[]): Promise<boolean> {
  const table = `"${schema}".${TABLE}`;
  const found = await client.query(
    `select to_regclass($1) is not null and to_regproc('baton.app_now') is not null as is_there`,
    [table],
  );
  if (!found.rows[0].is_there) return false;
  const applied = new Set(
    (await client.query(`select name from ${table}`)).rows.map((row: { name: string }) => row.name),
  );
  return names.every((name) => applied.has(name));
}

async function runLibrary(
  client: pg.Client,
  { schema, dir, log, login }: MigrationOptions,
): Promise<string[]> {
  // Loaded only when there is something to run: it costs 50 ms.
  const { runner } = await import('node-pg-migrate');
  const child = log.child({ schema });
  const ran = await runner({
    dbClient: client,
    dir,
    direction: 'up',
    schema: [schema, 'baton'],
    // The role of a service may not create schemas; its own schema exists already.
    createSchema: login === undefined,
    migrationsSchema: schema,
    migrationsTable: TABLE,
    noLock: true,
    migrationLoaderStrategies: [{ extensions: ['.sql'], loader: loadMigrations }],
    checkOrder: true,
    verbose: false,
    logger: {
      debug: () => undefined,
      info: (message: string) => child.debug({ message }, 'migration'),
      // Its warning here is that a file runs without a transaction, which the file itself asks for.
      warn: (message: string) => child.debug({ message }, 'migration'),
      error: (message: string) => child.error({ message }, 'migration'),
    },
  });
  for (const { name } of ran) child.info({ migration: name }, 'migrated');
  return ran.map(({ name }) => name);
}
