/** Isolation of tenants by the database itself (docs/adr/0015-row-security.md). */

import type pg from 'pg';
import { globalText } from './visibility-sql';

/**
 * The role as which requests of the service of `schema` work: without login, without bypass of row security, held to one tenant by
 * policies, and without rights in any other schema.
 */
export const tenantRole = (schema: string): string => `baton_tenant_${schema}`;

/** The one role for all services, of older releases; still used where a new role cannot be created. */
const FORMER_ROLE = 'baton_tenant';

/**
 * Tables with the columns `tenant` and `visibility` that lack the policies or have those of an older release. Without `row_counts`:
 * its counts are summed over tenants, by callers that may see them. $1 schema, $2 role.
 */
const UNSECURED = `
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'row_counts'
    and (select count(*) from pg_attribute a
      where a.attrelid = c.oid and a.attname in ('tenant', 'visibility') and not a.attisdropped) = 2
    and not (c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant_reads'
      and (select oid from pg_roles where rolname = $2) = any(p.polroles)
      and pg_get_expr(p.polqual, p.polrelid) like '%SELECT current_setting(%'))`;

/** Creates the role and lets the logged-in user work as it. Processes of an older release keep their rights. */
const roleStatement = (role: string): string => `
do $$ begin
  if not exists (select from pg_roles where rolname = '${role}') then
    begin
      create role ${role} nologin nobypassrls;
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  begin
    set local role ${role};
    reset role;
  exception when insufficient_privilege then
    execute format('grant ${role} to %I', session_user);
  end;
  if '${role}' <> '${FORMER_ROLE}' and exists (select from pg_roles where rolname = '${FORMER_ROLE}')
      and not pg_has_role('${FORMER_ROLE}', '${role}', 'member') then
    begin
      grant ${role} to ${FORMER_ROLE};
    exception when insufficient_privilege or unique_violation then null;
    end;
  end if;
end $$`;

const grants = (schema: string, role: string): string => `
grant usage on schema "${schema}" to ${role};
grant select, insert, update, delete on all tables in schema "${schema}" to ${role};
grant usage on all sequences in schema "${schema}" to ${role};
alter default privileges in schema "${schema}" grant select, insert, update, delete on tables to ${role};
alter default privileges in schema "${schema}" grant usage on sequences to ${role};`;

const POLICIES = ['everybody', 'tenant_reads', 'tenant_inserts', 'tenant_updates', 'tenant_deletes'];

/**
 * Policies of one table. Requests see and write rows of their own tenant, and read global rows too. Other roles see every row, as
 * before, at no cost. The settings stand in sub-selects, so that they are read once per statement instead of once per row.
 */
const policies = (table: string, role: string): string => {
  const isOwn = `tenant = (select current_setting('baton.tenant', true))`;
  const isSeen = `${isOwn} or ${globalText()} or (select current_setting('baton.reach', true)) = 'all'`;
  return `
${POLICIES.map((name) => `drop policy if exists ${name} on ${table};`).join('\n')}
create policy everybody on ${table} using (true) with check (true);
create policy tenant_reads on ${table} as restrictive for select to ${role} using (${isSeen});
create policy tenant_inserts on ${table} as restrictive for insert to ${role} with check (${isOwn});
create policy tenant_updates on ${table} as restrictive for update to ${role} using (${isOwn}) with check (${isOwn});
create policy tenant_deletes on ${table} as restrictive for delete to ${role} using (${isOwn});
alter table ${table} enable row level security;`;
};

/** Text of the statements in this file; a change tells copies of migrated databases that they are outdated. */
export const rowSecurityText = `${UNSECURED}${roleStatement('')}${grants('', '')}${policies('', '')}`;

/** The role as which requests of `schema` are to work in this database. */
async function roleFor(client: pg.ClientBase, schema: string): Promise<string> {
  const role = tenantRole(schema);
  const { rows } = await client.query(
    `select exists (select from pg_roles where rolname = $1) or (select rolsuper or rolcreaterole from pg_roles where rolname = session_user)
       or not exists (select from pg_roles where rolname = $2) as is_had`,
    [role, FORMER_ROLE],
  );
  return rows[0].is_had ? role : FORMER_ROLE;
}

/** Whether every table of tenants in `schema` has its policies, and `login` may work as the role. */
export async function isSecured(client: pg.ClientBase, schema: string, login?: string): Promise<boolean> {
  const role = await roleFor(client, schema);
  if (login !== undefined) {
    const { rowCount } = await client.query(
      `select from pg_auth_members where member = (select oid from pg_roles where rolname = $1)
        and roleid = (select oid from pg_roles where rolname = $2)`,
      [login, role],
    );
    if (rowCount === 0) return false;
  }
  return (await client.query(`select 1 ${UNSECURED} limit 1`, [schema, role])).rowCount === 0;
}

/**
 * Creates the role, its rights, and the policies that are missing or outdated. May be repeated. `owner`: connection and role that
 * own the tables and create later ones; default `client`.
 * @throws Error that tells an administrator what to do, when the database user may not create the role.
 */
export async function secureRows(
  client: pg.ClientBase,
  schema: string,
  owner: { client: pg.ClientBase; role: string | null } = { client, role: null },
): Promise<void> {
  const role = await roleFor(client, schema);
  const member = owner.role === null ? '' : `; grant ${role} to ${client.escapeIdentifier(owner.role)}`;
  try {
    await client.query(`${roleStatement(role)}; grant usage on schema baton to ${role}${member}`);
    await owner.client.query('begin');
    await owner.client.query(grants(schema, role));
    const { rows } = await owner.client.query(
      `select format('%I.%I', n.nspname, c.relname) as name ${UNSECURED}`,
      [schema, role],
    );
    for (const { name } of rows) await owner.client.query(policies(name, role));
    await owner.client.query('commit');
  } catch (error) {
    await owner.client.query('rollback');
    throw (error as { code?: string }).code === '42501' ? notAllowed(error, role) : error;
  }
}

/**
 * Returns the role that the policies of `schema` bind.
 * @throws Error when the user of the connection cannot work as that role.
 */
export async function requireTenantRole(client: pg.ClientBase, schema: string): Promise<string> {
  const { rows } = await client.query(
    `select distinct r.rolname as role from pg_policy p join pg_class c on c.oid = p.polrelid
     join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.oid = any(p.polroles)
     where n.nspname = $1 and p.polname = 'tenant_reads'`,
    [schema],
  );
  const role = rows[0]?.role === FORMER_ROLE ? FORMER_ROLE : tenantRole(schema);
  try {
    await client.query(`begin; set local role ${role}; rollback`);
  } catch (cause) {
    await client.query('rollback').catch(() => undefined);
    throw notAllowed(cause, role);
  }
  return role;
}

function notAllowed(cause: unknown, role: string): Error {
  return new Error(
    `the user of DATABASE_URL cannot work as the role ${role}, which holds requests to their tenant. Let an ` +
      `administrator run: create role ${role} nologin; grant ${role} to <user>; or give up this second ` +
      'line of defence with BATON_ROW_SECURITY=off',
    { cause },
  );
}
