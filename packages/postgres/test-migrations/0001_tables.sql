-- The tables that the tests of this package use; every service starts with the same outbox and inbox.
create table outbox (id uuid primary key, envelope jsonb not null, created_at timestamptz not null default app_now());
create table inbox (consumer text not null, message_id uuid not null, received_at timestamptz not null default app_now(), primary key (consumer, message_id));

create table things (
  id text not null,
  tenant text not null,
  created_by text not null,
  visibility text not null default 'tenant',
  size bigint not null default 0,
  is_hidden boolean not null default false,
  note text,
  labels jsonb not null default '[]',
  created_at timestamptz not null default app_now(),
  constraint things_pk primary key (tenant, id)
);
