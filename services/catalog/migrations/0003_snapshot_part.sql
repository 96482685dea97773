-- expand
-- This service's part of a restore (packages/snapshot-part): rows wait here, as NDJSON, until the switch.
create table snapshot_staging (
  restore_id uuid not null,
  table_name text not null,
  batch integer not null,
  rows text not null,
  primary key (restore_id, table_name, batch)
);
-- Restores that took effect here: a repeated switch changes nothing.
create table snapshot_switches (
  restore_id uuid primary key,
  switched_at timestamptz not null default app_now()
);
