/**
 * Tenants in which nothing can be made any more, because they are being removed or were. Whoever inserts a thing of a
 * tenant holds a lock of that tenant, shared, to the end of his transaction; closing takes it alone: so what was under way
 * is there when the contents are counted, and what comes later is refused, however long ago its request was let in.
 */
import type pg from 'pg';
import { inTransaction } from './plain-transaction';

/** SQLSTATE of the refusal; sql-errors.ts translates it. */
const TENANT_CLOSED = 'BT001';
/** What a person makes in a tenant; everything else goes with these, or is history. */
const THINGS =
  `blueprints plugins blueprint_filters deployments deployment_groups sites deployment_filters secrets
  secrets_providers execution_schedules snapshots log_bundles`.split(/\s+/);

/**
 * With the rights of whoever inserts, on purpose: as its owner (where that is a superuser) it would run what a service may hide in
 * types and casts of its own. All read which tenants are closed; who owns a schema says so of that schema.
 */
const FUNCTION = `
create table if not exists baton.closed_tenants (schema_name text, tenant text, primary key (schema_name, tenant));
create or replace function baton.refuse_closed_tenant() returns trigger
language plpgsql security invoker set search_path = baton, pg_temp as $$
begin
  perform pg_advisory_xact_lock_shared(7236005, hashtext(tg_table_schema || ' ' || new.tenant));
  if exists (select from closed_tenants c where c.schema_name = tg_table_schema and c.tenant = new.tenant) then
    raise exception 'tenant % is closed', new.tenant using errcode = '${TENANT_CLOSED}';
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

/** Tells when the statements here changed, for copies of migrated databases. */
export const closedTenantsText = `${FUNCTION}${THINGS}`;

/** Whether every table of things in `schema` refuses closed tenants. */
export async function isGuarded(client: pg.ClientBase, schema: string): Promise<boolean> {
  if ((await client.query(HAS_FUNCTION)).rowCount === 0) return false;
  return (await client.query(`select 1 ${UNGUARDED} limit 1`, [schema, THINGS])).rowCount === 0;
}

/** Makes what closes tenants, as the owner of the schema `baton`; `role` may say so of the schema that it owns. */
export async function makeTenantGuard(client: pg.ClientBase, role?: string): Promise<void> {
  if ((await client.query(HAS_FUNCTION)).rowCount === 0) await client.query(FUNCTION);
  if (role === undefined) return;
  const name = client.escapeIdentifier(role);
  await client.query(
    `grant usage on schema baton to ${name}; grant insert, update, delete on baton.closed_tenants to ${name}`,
  );
}

/** Has the tables in `schema` refuse closed tenants, as their owner; may be repeated. */
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

/** Closes `tenant` in `schema` and answers what it holds there, e.g. `2 deployments`. May be repeated. */
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

/** Totals that triggers write when other rows go: they go last. */
const COUNTS = 'row_counts';

/** Tables of tenants (partitions each for itself), those that refer to others before these. */
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

/** Opens `tenant` again; for a new one of that name what an earlier one left goes in the same transaction. */
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
 * Removes at most about `limit` rows that a removed tenant left (ended executions, events, ...), and answers how many; what
 * refers to them goes with them. Nothing where the tenant is open: the row that says so is held, so that a new tenant of
 * the name is opened before or after, never while. May be repeated, also at the same time.
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
      // Counts are no leftovers as long as rows go: their triggers would write them again.
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
