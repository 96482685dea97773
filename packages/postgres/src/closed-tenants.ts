/**
 * Closed tenants: tenants in which nothing can be created any more, because they are being removed or were removed. A transaction
 * that inserts a resource of a tenant holds a shared advisory lock of that tenant until its end. Closing takes the lock
 * exclusively. So inserts under way are visible when the contents are counted, and later inserts are refused, however long ago
 * their request was accepted.
 */
import type pg from 'pg';
import { inTransaction } from './plain-transaction';
import { OWN_STATES } from './sql-errors';

/** Tables of the resources that a person creates in a tenant. All other rows belong to these, or are history. */
const THINGS =
  `blueprints plugins blueprint_filters deployments deployment_groups sites deployment_filters secrets
  secrets_providers execution_schedules snapshots log_bundles webhooks triggers`.split(/\s+/);

/**
 * The trigger function runs with the rights of the role that inserts (`security invoker`), on purpose. With the rights of its owner
 * (where the owner is a superuser) it would run code that a service may hide in its own types and casts. Every role may read which
 * tenants are closed. The owner of a schema may close tenants of that schema.
 */
const FUNCTION = `
create table if not exists baton.closed_tenants (schema_name text, tenant text, primary key (schema_name, tenant));
create or replace function baton.refuse_closed_tenant() returns trigger
language plpgsql security invoker set search_path = baton, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(7236005, hashtext(tg_table_schema || ' ' || new.tenant));
  if exists (select from closed_tenants c where c.schema_name = tg_table_schema and c.tenant = new.tenant) then
    raise exception 'tenant % is closed', new.tenant using errcode = '${OWN_STATES.closedTenant}';
  end if;
  return new;
end $$;
grant select on baton.closed_tenants to public;
alter table baton.closed_tenants enable row level security;
drop policy if exists all_read on baton.closed_tenants;
drop policy if exists owners_write on baton.closed_tenants;
create policy all_read on baton.closed_tenants for select using (true);
create policy owners_write on baton.closed_tenants using (
  exists (select from pg_namespace n where n.nspname = schema_name and pg_has_role(n.nspowner, 'usage')));`;

const HAS_FUNCTION = `select from pg_proc where oid = to_regproc('baton.refuse_closed_tenant') and not prosecdef`;

const tables = `
  from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant'
  where n.nspname = $1 and c.relkind in ('r', 'p') and not c.relispartition and not a.attisdropped`;
const UNGUARDED = `${tables} and c.relname = any($2)
  and not exists (select from pg_trigger t where t.tgrelid = c.oid and t.tgname = 'refuse_closed_tenant')`;

/** Text of the statements in this file; a change tells copies of migrated databases that they are outdated. */
export const closedTenantsText = `${FUNCTION}${THINGS}`;

/** Whether every table of `THINGS` in `schema` refuses inserts of closed tenants. */
export async function isGuarded(client: pg.ClientBase, schema: string): Promise<boolean> {
  if ((await client.query(HAS_FUNCTION)).rowCount === 0) return false;
  return (await client.query(`select 1 ${UNGUARDED} limit 1`, [schema, THINGS])).rowCount === 0;
}

/** Creates the table and the trigger function, as the owner of the schema `baton`; `role` gets the right to write the table. */
export async function makeTenantGuard(client: pg.ClientBase, role?: string): Promise<void> {
  if ((await client.query(HAS_FUNCTION)).rowCount === 0) await client.query(FUNCTION);
  if (role === undefined) return;
  const name = client.escapeIdentifier(role);
  await client.query(
    `grant usage on schema baton to ${name}; grant insert, update, delete on baton.closed_tenants to ${name}`,
  );
}

/** Adds the trigger that refuses closed tenants to the tables in `schema`, as their owner; may be repeated. */
export async function guardTenants(client: pg.ClientBase, schema: string): Promise<void> {
  const { rows } = await client.query(`select format('%I.%I', n.nspname, c.relname) as name ${UNGUARDED}`, [
    schema,
    THINGS,
  ]);
  for (const { name } of rows)
    await client.query(
      `create trigger refuse_closed_tenant before insert on ${name} for each row execute function baton.refuse_closed_tenant()`,
    );
}

/** Closes `tenant` in `schema` and returns the resources that it still has there, e.g. `2 deployments`. May be repeated. */
export async function closeTenant(pool: pg.Pool, schema: string, tenant: string): Promise<string[]> {
  await inTransaction(pool, async (client) => {
    await client.query(`select pg_advisory_xact_lock(7236005, hashtext($1 || ' ' || $2))`, [schema, tenant]);
    await client.query('insert into baton.closed_tenants values ($1, $2) on conflict do nothing', [
      schema,
      tenant,
    ]);
  });
  const { rows: found } = await pool.query(
    `select c.relname as name ${tables} and c.relname = any($2) order by 1`,
    [schema, THINGS],
  );
  const contents: string[] = [];
  for (const { name } of found) {
    const { rows } = await pool.query(`select count(*) as n from "${schema}"."${name}" where tenant = $1`, [
      tenant,
    ]);
    if (rows[0].n > 0) contents.push(`${rows[0].n} ${name.replaceAll('_', ' ')}`);
  }
  return contents;
}

/** Table of totals that triggers write when other rows are deleted; so its rows are deleted last. */
const COUNTS = 'row_counts';

/** Tables with a column `tenant` (each partition by itself); tables that refer to others come before these. */
async function tenantTables(client: pg.ClientBase, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string; refers: string[] }>(
    `select c.relname as name, (select coalesce(json_agg(r.relname), '[]') from pg_constraint f join pg_class r on r.oid = f.confrelid
       where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as refers
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
       join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
     where n.nspname = $1 and c.relkind = 'r' order by c.relname`,
    [schema],
  );
  const ordered: string[] = [];
  const visit = (name: string): void => {
    if (ordered.includes(name)) return;
    for (const row of rows) if (row.refers.includes(name)) visit(row.name);
    ordered.push(name);
  };
  for (const { name } of rows) visit(name);
  return [...ordered.filter((name) => name !== COUNTS), ...ordered.filter((name) => name === COUNTS)];
}

/**
 * Opens `tenant` again. For a new tenant (`isNew`), the rows that an earlier tenant of that name left are deleted in the same
 * transaction.
 */
export async function openTenant(
  pool: pg.Pool,
  schema: string,
  tenant: string,
  isNew: boolean,
): Promise<void> {
  await inTransaction(pool, async (client) => {
    for (const name of isNew ? await tenantTables(client, schema) : [])
      await client.query(`delete from "${schema}"."${name}" where tenant = $1`, [tenant]);
    await client.query('delete from baton.closed_tenants where schema_name = $1 and tenant = $2', [
      schema,
      tenant,
    ]);
  });
}

/**
 * Deletes at most about `limit` rows that a removed tenant left (ended executions, events, ...), and returns their number. Rows
 * that refer to them are deleted with them. Deletes nothing where the tenant is open. The row in `closed_tenants` stays locked, so
 * that a new tenant of the name is opened before or after, never meanwhile. May be repeated, also at the same time.
 */
export async function clearTenant(
  pool: pg.Pool,
  schema: string,
  tenant: string,
  limit: number,
): Promise<number> {
  let removed = 0;
  await inTransaction(pool, async (client) => {
    const closed = await client.query(
      'select from baton.closed_tenants where schema_name = $1 and tenant = $2 for key share',
      [schema, tenant],
    );
    if (closed.rowCount === 0) return;
    for (const name of await tenantTables(client, schema)) {
      // Totals are left until no other rows go: the triggers of those rows would write the totals again.
      if (removed >= limit || (name === COUNTS && removed > 0)) return;
      const table = `"${schema}"."${name}"`;
      const done = await client.query(
        `delete from ${table} where ctid = any(array(select ctid from ${table} where tenant = $1 limit $2))`,
        [tenant, limit - removed],
      );
      removed += done.rowCount ?? 0;
    }
  });
  return removed;
}
