/**
 * One login role per service (docs/adr/0020-one-login-a-service.md): it owns the schema of the service and has no rights elsewhere.
 * Only the migration step uses the database user that creates the roles (a superuser, or a user with CREATEROLE that owns the
 * database).
 */
import { createHash } from 'node:crypto';
import type { Log } from '@baton/kernel';
import { postgresConnection, type TlsSource } from '@baton/tls';
import pg from 'pg';
import { passwordVerifier } from './scram';

export interface ServiceLogin {
  role: string;
  /** Empty: no password is set; the server authenticates the role in another way (trust, certificate). */
  password: string;
}

export interface DatabaseAddress {
  url: string;
  /** Authorities to trust where `sslmode` in the address asks for TLS. */
  trust?: TlsSource | null | undefined;
}

/** Longest name that PostgreSQL keeps whole, in bytes. */
const MAX_NAME = 63;
/** Advisory lock: only one process at a time creates roles. The number only has to be ours. */
const LOCK = 7_236_003;
/** Rights that no service may have; a role with one of them is not accepted as the role of a service. */
const POWERS = 'rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls';

/**
 * Name of a service's role. Roles belong to a whole server: their names begin with the name of the database, so that installations
 * do not share them.
 */
export function loginName(database: string, schema: string): string {
  const name = `${database}_${schema}`;
  if (Buffer.byteLength(name) <= MAX_NAME) return name;
  const digest = createHash('sha256').update(name).digest('hex').slice(0, 12);
  return `${database.slice(0, MAX_NAME - schema.length - digest.length - 2)}_${digest}_${schema}`;
}

/** Name of the database that `url` leads to. */
export const databaseOf = (url: string): string => decodeURIComponent(new URL(url).pathname.slice(1));

/** `url` for another user. */
export function withLogin(url: string, { role, password }: ServiceLogin): string {
  const changed = new URL(url);
  changed.username = encodeURIComponent(role);
  changed.password = encodeURIComponent(password);
  return changed.href;
}

/** The user and password of `url`. @throws Error when `url` names no user. */
export function loginOf(url: string): ServiceLogin {
  const { username, password } = new URL(url);
  if (username === '') throw new Error('the URL of a service names no user');
  return { role: decodeURIComponent(username), password: decodeURIComponent(password) };
}

/**
 * Creates the missing roles, sets their passwords and closes the database to everybody else. May be repeated, also at the same
 * time. After a crash nothing of it has happened; the next start does it.
 * @throws Error that tells what is wrong, and how to do without the roles, when the user of `url` may not create them.
 */
export async function ensureLogins(
  { url, trust }: DatabaseAddress,
  logins: readonly ServiceLogin[],
  log: Log,
): Promise<void> {
  const client = new pg.Client({ ...postgresConnection(url, trust), application_name: 'baton-roles' });
  await client.connect();
  try {
    await client.query('begin');
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    for (const login of logins) await ensureLogin(client, login);
    await client.query('commit');
    await closeDatabase(client, logins, log);
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw (error as { code?: string }).code === '42501' ? notAllowed(error) : error;
  } finally {
    await client.end();
  }
}

async function ensureLogin(client: pg.Client, { role, password }: ServiceLogin): Promise<void> {
  const { rows } = await client.query(
    `select (${POWERS}) as is_powerful, rolname = session_user as is_owner from pg_roles where rolname = $1`,
    [role],
  );
  const name = client.escapeIdentifier(role);
  const secret = password === '' ? '' : `password ${client.escapeLiteral(passwordVerifier(password))}`;
  if (rows[0]?.is_owner || rows[0]?.is_powerful)
    throw new Error(
      `the database user ${role} of a service is ${rows[0].is_owner ? 'the one that migrates' : 'a superuser or may make roles or databases'}: ` +
        'give every service a user of its own, which the migration makes, or share one user with BATON_DATABASE_ROLES=off',
    );
  if (rows.length === 0)
    await client.query(
      `create role ${name} login noinherit nosuperuser nocreatedb nocreaterole noreplication nobypassrls ${secret}`,
    );
  // A role that an administrator made, for a user that may not alter roles, stays as it is.
  else if (await mayMakeRoles(client)) await client.query(`alter role ${name} login noinherit ${secret}`);
  const { rows: owner } = await client.query(
    `select session_user as name, pg_has_role(session_user, $1, 'usage') as is_member`,
    [role],
  );
  // So that this user can hand over schemas, and that services of an older release can go on as this user.
  if (!owner[0].is_member) await client.query(`grant ${name} to ${client.escapeIdentifier(owner[0].name)}`);
}

async function mayMakeRoles(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(
    'select rolsuper or rolcreaterole as may from pg_roles where rolname = session_user',
  );
  return rows[0].may;
}

/**
 * Closes the database: roles of other databases of this server get no connection, and only the owner creates objects in `public`.
 */
async function closeDatabase(client: pg.Client, logins: readonly ServiceLogin[], log: Log): Promise<void> {
  const { rows } = await client.query('select current_database() as name');
  const database = client.escapeIdentifier(rows[0].name);
  const names = logins.map(({ role }) => client.escapeIdentifier(role)).join(', ');
  try {
    await client.query(`begin;
      grant connect, temporary on database ${database} to ${names};
      revoke connect, temporary on database ${database} from public;
      revoke create on schema public from public;
      commit`);
  } catch (error) {
    await client.query('rollback');
    log.warn(
      { error: (error as Error).message },
      'the database stays open to every user of its server: the user that migrates does not own it',
    );
  }
}

/** Creates `schema` where it is missing, and makes `role` the owner of the schema and of all its objects. */
export async function handOverSchema(client: pg.ClientBase, schema: string, role: string): Promise<void> {
  const name = client.escapeIdentifier(role);
  await client.query(`create schema if not exists "${schema}" authorization ${name}`);
  const { rows } = await client.query<{ statement: string }>(FOREIGN, [schema, role]);
  for (const { statement } of rows) await client.query(`${statement} owner to ${name}`);
}

/** Runs `handOverSchema` on a separate connection. */
export async function giveSchema(
  { url, trust }: DatabaseAddress,
  schema: string,
  { role }: ServiceLogin,
): Promise<void> {
  const client = new pg.Client({ ...postgresConnection(url, trust), application_name: 'baton-roles' });
  await client.connect();
  try {
    if (!(await isHandedOver(client, schema, role))) await handOverSchema(client, schema, role);
  } finally {
    await client.end();
  }
}

/** Whether `role` owns `schema` and all its objects already. */
export async function isHandedOver(client: pg.ClientBase, schema: string, role: string): Promise<boolean> {
  const { rows } = await client.query('select to_regnamespace($1) is not null as is_there', [`"${schema}"`]);
  return rows[0].is_there && (await client.query(FOREIGN, [schema, role])).rowCount === 0;
}

/** Objects in schema $1 that $2 does not own; sequences of columns, indexes and row types go with their tables. */
const FOREIGN = `
with owner as (select oid from pg_roles where rolname = $2), here as (select * from pg_namespace where nspname = $1)
select format('alter schema %I', n.nspname) as statement from here n where n.nspowner <> (select oid from owner)
union all
select format('alter %s %I.%I', case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence'
    when 'c' then 'type' else 'table' end, n.nspname, c.relname)
  from pg_class c join here n on n.oid = c.relnamespace
  where c.relowner <> (select oid from owner) and c.relkind in ('r', 'p', 'v', 'm', 'S', 'c', 'f')
    and not (c.relkind = 'S' and exists (select from pg_depend d where d.objid = c.oid and d.classid = 'pg_class'::regclass
      and d.refclassid = 'pg_class'::regclass and d.deptype in ('a', 'i')))
union all
select format('alter routine %s', p.oid::regprocedure)
  from pg_proc p join here n on n.oid = p.pronamespace where p.proowner <> (select oid from owner)
union all
select format('alter type %I.%I', n.nspname, t.typname)
  from pg_type t join here n on n.oid = t.typnamespace
  where t.typowner <> (select oid from owner) and t.typtype in ('e', 'd', 'r')`;

function notAllowed(cause: unknown): Error {
  return new Error(
    'the user of DATABASE_URL may not make the login roles of the services: let an administrator give him CREATEROLE ' +
      'and the database, or let all services share this user with BATON_DATABASE_ROLES=off ' +
      `(${(cause as Error).message})`,
    { cause },
  );
}
