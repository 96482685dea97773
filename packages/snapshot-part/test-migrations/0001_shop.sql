create table outbox (id uuid primary key);
create table inbox (consumer text primary key);
create table snapshot_staging (restore_id uuid not null, table_name text not null, batch integer not null, rows text not null,
  primary key (restore_id, table_name, batch));
create table snapshot_switches (restore_id uuid primary key, switched_at timestamptz not null default app_now());
create table shops (
  key bigint generated always as identity primary key,
  name text not null unique,
  sealed bytea,
  ratio double precision,
  opened timestamptz not null default app_now(),
  tags text[] not null default '{}',
  plan json,
  facts jsonb,
  size numeric,
  name_length integer generated always as (length(name)) stored
);
create table goods (
  shop_key bigint not null references shops (key) on delete cascade,
  name text not null check (name <> ''),
  primary key (shop_key, name)
);
create table sales (id bigint generated always as identity, at timestamptz not null, text text, primary key (at, id)) partition by range (at);
create table sales_rest partition of sales default;
create table runs (id uuid primary key, state text not null);
