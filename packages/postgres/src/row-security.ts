/** Isolation of tenants by the database itself (docs/adr/0015-row-security.md). */
import type pg from 'pg';

/** Requests work as this role: no login, no bypass, held to one tenant by policies. */
export const TENANT_ROLE = 'baton_tenant';

/**
 * Tables that say whose a row is and who sees it, without policies or with those of an older release; counts of rows are
 * summed over tenants by those who may see them.
 */
const UNSECURED = `
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition and c.relname <> 'row_counts'
    and (select count(*) from pg_attribute a
      where a.attrelid = c.oid and a.attname in ('tenant', 'visibility') and not a.attisdropped) = 2
    and not (c.relrowsecurity and exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'tenant_reads'
      and pg_get_expr(p.polqual, p.polrelid) like '%SELECT current_setting(%'))`;

const ROLE = `
do $$ begin
  if not exists (select from pg_roles where rolname = '${TENANT_ROLE}') then
    begin
      create role ${TENANT_ROLE} nologin nobypassrls;
    exception when duplicate_object or unique_violation then null;
    end;
  end if;
  begin
    set local role ${TENANT_ROLE};
    reset role;
  exception when insufficient_privilege then
    execute format('grant ${TENANT_ROLE} to %I', session_user);
  end;
end $$`;

const grants = (schema: string): string => `
grant usage on schema baton, "${schema}" to ${TENANT_ROLE};
grant select, insert, update, delete on all tables in schema "${schema}" to ${TENANT_ROLE};
grant usage on all sequences in schema "${schema}" to ${TENANT_ROLE};
alter default privileges in schema "${schema}" grant select, insert, update, delete on tables to ${TENANT_ROLE};
alter default privileges in schema "${schema}" grant usage on sequences to ${TENANT_ROLE};`;

const POLICIES = ['everybody', 'tenant_reads', 'tenant_inserts', 'tenant_updates', 'tenant_deletes'];

/**
 * Everybody as before; requests: rows of their tenant, and to read also global ones. Other roles pay nothing for it. The
 * settings in sub-selects are read once a statement instead of once a row.
 */
const policies = (table: string): string => {
  const isOwn = `tenant = (select current_setting('baton.tenant', true))`;
  const isSeen = `${isOwn} or visibility = 'global' or (select current_setting('baton.reach', true)) = 'all'`;
  return `
${POLICIES.map((name) => `drop policy if exists ${name} on ${table};`).join('\n')}
create policy everybody on ${table} using (true) with check (true);
create policy tenant_reads on ${table} as restrictive for select to ${TENANT_ROLE} using (${isSeen});
create policy tenant_inserts on ${table} as restrictive for insert to ${TENANT_ROLE} with check (${isOwn});
create policy tenant_updates on ${table} as restrictive for update to ${TENANT_ROLE} using (${isOwn}) with check (${isOwn});
create policy tenant_deletes on ${table} as restrictive for delete to ${TENANT_ROLE} using (${isOwn});
alter table ${table} enable row level security;`;
};

/** Tells when the statements here changed, for copies of migrated databases. */
export const rowSecurityText = `${UNSECURED}${ROLE}${grants('')}${policies('')}`;

/** Whether every table of tenants in `schema` has its policies. */
export async function isSecured(client: pg.ClientBase, schema: string): Promise<boolean> {
  return (await client.query(`select 1 ${UNSECURED} limit 1`, [schema])).rowCount === 0;
}

/**
 * Makes role, rights and the policies that are missing or outdated, in one transaction. May be repeated.
 * @throws Error that says what an administrator has to do where the user of the database may not create the role.
 */
export async function secureRows(client: pg.ClientBase, schema: string): Promise<void> {
  await client.query('begin');
  try {
    await client.query(ROLE);
    await client.query(grants(schema));
    const { rows } = await client.query(`select format('%I.%I', n.nspname, c.relname) as name ${UNSECURED}`, [
      schema,
    ]);
    for (const { name } of rows) await client.query(policies(name));
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw (error as { code?: string }).code === '42501' ? notAllowed(error) : error;
  }
}

/** @throws Error when the user of the connection cannot work as the role. */
export async function requireTenantRole(client: pg.ClientBase): Promise<void> {
  try {
    await client.query(`begin; set local role ${TENANT_ROLE}; rollback`);
  } catch (cause) {
    await client.query('rollback').catch(() => undefined);
    throw notAllowed(cause);
  }
}

function notAllowed(cause: unknown): Error {
  return new Error(
    `the user of DATABASE_URL cannot work as the role ${TENANT_ROLE}, which holds requests to their tenant. Let an ` +
      `administrator run: create role ${TENANT_ROLE} nologin; grant ${TENANT_ROLE} to <user>; or give up this second ` +
      'line of defence with BATON_ROW_SECURITY=off',
    { cause },
  );
}
