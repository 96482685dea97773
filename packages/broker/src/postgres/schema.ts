import type pg from 'pg';

/** Advisory lock: only one process at a time creates the tables; the number only has to be ours. */
const LOCK = 7_236_010;

/** Statements that create the tables. Forward only, like migrations: a change is a further statement that may run again. */
const TABLES = (schema: string): string => `
do $$ begin
  -- Who owns a schema that was made for him may make none.
  if to_regnamespace('"${schema}"') is null then create schema "${schema}"; end if;
end $$;
create table if not exists "${schema}".messages (
  id bigint generated always as identity primary key,
  -- <message type>/<consumer>
  queue text not null,
  envelope json not null,
  -- Deliveries whose handler failed, and deliveries whose process died.
  attempts int not null default 0,
  crashes int not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  -- Session that handles it (see session.ts), null: nobody.
  owner int
);
create index if not exists messages_due on "${schema}".messages (queue, due_at, id) where owner is null;
create index if not exists messages_owner on "${schema}".messages (owner) where owner is not null;
create table if not exists "${schema}".parked (
  id uuid primary key,
  queue text not null,
  envelope json not null,
  reason text not null,
  attempts int not null,
  parked_at timestamptz not null default clock_timestamp()
);
create index if not exists parked_at on "${schema}".parked (parked_at);`;

/** Creates missing tables; any number of processes may do so at once. Costs one query when all exist. */
export async function ensureSchema(client: pg.ClientBase, schema: string): Promise<void> {
  const found = await client.query('select to_regclass($1) is not null as is_there', [
    `"${schema}".parked_at`,
  ]);
  if (found.rows[0].is_there) return;
  await client.query('begin');
  try {
    await client.query('select pg_advisory_xact_lock($1)', [LOCK]);
    await client.query(TABLES(schema));
    await client.query('commit');
  } catch (error) {
    await client.query('rollback');
    throw error;
  }
}
