// Row 1 of the attacks: the database login of one service can neither read nor write data of another service, nor reach the server
// itself. Each attempt succeeds for the migrating user.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLog } from '@baton/kernel';
import { databaseOf, withLogin } from '@baton/postgres';
import { testDatabase } from '@baton/testkit';
import pg from 'pg';
import { newLogins } from './database-logins';
import { startEmbeddedPostgres } from './embedded-postgres';
import { type Logins, migrateAll } from './migrate';

interface Place {
  /** URL of the migrating user. */
  url: string;
  close(): Promise<void>;
}

async function asSuperuser(): Promise<Place> {
  const database = await testDatabase({ migrations: [] });
  return { url: database.url, close: database.drop };
}

/** A user that owns the database and may create roles, without further rights: as hosted servers provide it. */
async function asOwner(): Promise<Place> {
  const { url, close } = await asSuperuser();
  const database = databaseOf(url);
  const owner = { role: `${database}_owner`, password: 'of the owner' };
  await run(url, `create role "${owner.role}" login createrole password 'of the owner'`);
  await run(url, `alter database "${database}" owner to "${owner.role}"`);
  await run(url, `grant create on schema public to "${owner.role}"`);
  // The server may be an old one, whose owners of databases share these roles with other databases of the tests.
  await run(
    url,
    `do $$ declare name text; begin
    for name in select rolname from pg_roles where starts_with(rolname, 'baton_tenant') loop
      if current_setting('server_version_num')::int >= 160000 then execute format('grant %I to %I with admin option', name, '${owner.role}'); end if;
    end loop; end $$`,
  );
  return { url: withLogin(url, owner), close };
}

async function embedded(): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'baton-logins-'));
  const server = await startEmbeddedPostgres({ dataDir: join(dir, 'postgres') });
  return {
    url: server.url,
    close: async () => {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

async function run(url: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

/** Returns the SQLSTATE of the refusal, or null when the statement succeeded; its effect is rolled back. */
async function outcome(client: pg.Client, text: string): Promise<string | null> {
  await client.query('begin');
  try {
    await client.query(text);
    return null;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await client.query('rollback');
  }
}

const DENIED = '42501';

/** Attacks of a service against another one. */
const tries = (other: string, otherRole: string): Record<string, string> => ({
  'read its tables': `select * from "${other}".schema_migrations limit 1`,
  'read its outbox': `select * from "${other}".outbox limit 1`,
  'write to its tables': `insert into "${other}".inbox (consumer, message_id) values ('x', gen_random_uuid())`,
  'empty its tables': `truncate "${other}".inbox`,
  'make a table in its schema': `create table "${other}".planted ()`,
  'be it': `set role "${otherRole}"`,
  'be its requests': `set role "baton_tenant_${other}"`,
  'join it': `grant "${otherRole}" to current_user`,
  'change its password': `alter role "${otherRole}" password 'x'`,
  'close its tenants': `insert into baton.closed_tenants values ('${other}', 'planted')`,
  'replace what all call': `create or replace function baton.app_now() returns timestamptz language sql as 'select now()'`,
  'make a table in public': 'create table public.planted ()',
  'make a schema': 'create schema planted',
  'make a role': 'create role baton_planted',
});

/** Attacks of a service against the server; only a superuser may do these. */
const SERVER = {
  'run a program': `copy (select 1) to program 'cat > /dev/null'`,
  'run a program for rows': `create temporary table rows (line text); copy rows from program 'id'`,
  'read password hashes': 'select rolpassword from pg_authid limit 1',
  'read a file': `select pg_read_file('PG_VERSION')`,
  'list files': `select pg_ls_dir('.')`,
  'read files as large objects': `select lo_import('/etc/passwd')`,
  'write a file': `copy (select 1) to '/dev/null'`,
  'be a superuser': 'alter role current_user superuser',
  'go around policies': 'alter role current_user bypassrls',
  'load a language': 'create or replace function pg_temp.f() returns int language internal as $$int4in$$',
};

describe.each([
  ['a server of the operator, as superuser', asSuperuser, true],
  ['a server of the operator, as owner of the database', asOwner, false],
  ['the embedded server', embedded, true],
] as const)('on %s', (_name, open, isSuperuser) => {
  let place: Place;
  let logins: Logins;
  const clients = new Map<string, pg.Client>();

  const connect = async (url: string): Promise<pg.Client> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    return client;
  };
  const migrate = () =>
    migrateAll({
      url: place.url,
      mainDir: join(__dirname, '../src'),
      log: silentLog,
      hasRowSecurity: true,
      logins,
    });

  beforeAll(async () => {
    place = await open();
    logins = newLogins(place.url);
    await migrate();
    for (const [schema, login] of logins) clients.set(schema, await connect(withLogin(place.url, login)));
    clients.set('owner', await connect(place.url));
  }, 120_000);
  afterAll(async () => {
    for (const client of clients.values()) await client.end();
    await place?.close();
  }, 30_000);

  test('each service reaches its own schema, and no other one nor the server', async () => {
    const found: string[] = [];
    const services = [...logins].filter(([schema]) => schema !== 'broker');
    for (const [schema] of logins) {
      const client = clients.get(schema)!;
      for (const [other, { role }] of services.filter(([name]) => name !== schema))
        for (const [what, text] of Object.entries(tries(other, role))) {
          const code = await outcome(client, text);
          if (code !== DENIED) found.push(`${schema}: ${what} (${other}): ${code ?? 'done'}`);
        }
      for (const [what, text] of Object.entries(SERVER)) {
        const code = await outcome(client, text);
        if (code !== DENIED) found.push(`${schema}: ${what}: ${code ?? 'done'}`);
      }
    }
    expect(found).toEqual([]);
    expect(services).toHaveLength(6);
  }, 60_000);

  test('each of these is refused to the services and not in itself: the one that migrates may', async () => {
    const owner = clients.get('owner')!;
    const all = { ...tries('catalog', logins.get('catalog')!.role), ...(isSuperuser ? SERVER : {}) };
    const refused: string[] = [];
    for (const [what, text] of Object.entries(all)) {
      const code = await outcome(owner, text);
      // A role cannot become a member of itself, nor twice of a role that it owns: these cases show only in the test above.
      if (code !== null && what !== 'join it' && what !== 'go around policies' && what !== 'be its requests')
        refused.push(`${what}: ${code}`);
    }
    expect(refused).toEqual([]);
  });

  test('in its own schema a service may do what it does: rows, temporary twins, statistics, partitions, requests', async () => {
    for (const [schema] of logins) {
      if (schema === 'broker') continue;
      const client = clients.get(schema)!;
      const own = [
        `insert into "${schema}".inbox (consumer, message_id) values ('x', gen_random_uuid())`,
        `truncate "${schema}".inbox; lock table "${schema}".inbox in access exclusive mode`,
        `create temporary table twin (like "${schema}".inbox including all) on commit drop`,
        `analyze "${schema}".inbox`,
        `set local role baton_tenant_${schema}; select * from "${schema}".inbox`,
        `insert into baton.closed_tenants values ('${schema}', 't')`,
        'select * from pg_control_system(); select pg_export_snapshot(); select baton.app_now()',
      ];
      for (const text of own)
        expect([schema, text, await outcome(client, text)]).toEqual([schema, text, null]);
    }
    const events = `set search_path to executions, baton; create table events_planted (like events including defaults including constraints)`;
    expect(await outcome(clients.get('executions')!, events)).toBeNull();
  });

  test('again: nothing to do; a new password is taken', async () => {
    await migrate();
    const login = { ...logins.get('catalog')!, password: 'another password' };
    logins = new Map([...logins, ['catalog', login]]);
    await migrate();
    const own = await run(withLogin(place.url, login), 'select current_user as name');
    expect(own.rows).toEqual([{ name: login.role }]);
  });

  test('a schema that the one who migrates owned before goes to its service', async () => {
    const owner = clients.get('owner')!;
    const { rows } = await owner.query('select session_user as name');
    await owner.query(`alter table secrets.secrets owner to "${rows[0].name}"`);
    await owner.query(`create function secrets.former() returns int language sql as 'select 1'`);
    await migrate();
    const { rows: owners } = await owner.query(
      `select pg_get_userbyid(relowner) as name from pg_class where oid = 'secrets.secrets'::regclass
       union select pg_get_userbyid(proowner) from pg_proc where oid = 'secrets.former'::regproc`,
    );
    expect(owners).toEqual([{ name: logins.get('secrets')!.role }]);
  });
});

test('the login of one installation opens no database of another one on the same server', async () => {
  const [one, other] = await Promise.all([asSuperuser(), asSuperuser()]);
  try {
    const logins = { one: newLogins(one.url), other: newLogins(other.url) };
    const migrate = (url: string, its: Logins) =>
      migrateAll({ url, mainDir: __dirname, log: silentLog, hasRowSecurity: true, logins: its });
    await Promise.all([migrate(one.url, logins.one), migrate(other.url, logins.other)]);
    const login = logins.one.get('catalog')!;
    await expect(run(withLogin(other.url, login), 'select 1')).rejects.toMatchObject({ code: DENIED });
    expect((await run(withLogin(one.url, login), 'select 1 as n')).rows).toEqual([{ n: 1 }]);
  } finally {
    await Promise.all([one.close(), other.close()]);
  }
}, 60_000);

test('a service is not given the user that migrates, nor one who may too much; a user without the right to make roles is told what to do', async () => {
  const { url, close } = await asOwner();
  const poor = { role: `${databaseOf(url)}_poor`, password: 'p' };
  const migrate = (as: string, logins: Logins) =>
    migrateAll({ url: as, mainDir: __dirname, log: silentLog, hasRowSecurity: true, logins });
  try {
    const { username } = new URL(url);
    const same = new Map([...newLogins(url), ['catalog', { role: username, password: '' }] as const]);
    await expect(migrate(url, same)).rejects.toThrow(/BATON_DATABASE_ROLES=off/);
    await run(url, `create role "${poor.role}" login createdb password 'p'`).catch(() => undefined);
    await run(url, `create role "${poor.role}" login password 'p'`).catch(() => undefined);
    await expect(migrate(withLogin(url, poor), newLogins(url))).rejects.toThrow(
      /may not make the login roles[\s\S]*BATON_DATABASE_ROLES=off/,
    );
  } finally {
    await close();
  }
});
