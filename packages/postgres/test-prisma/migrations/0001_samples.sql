-- Every type that columns of services have, for the tests of the Prisma port.
create table outbox (id uuid primary key, envelope jsonb not null, created_at timestamptz not null default app_now());

create type mood as enum ('calm', 'very-cross');
create table samples (
  id text primary key,
  number bigint not null default 0,
  small integer not null default 7,
  ratio double precision,
  amount numeric(20, 4),
  is_on boolean not null default false,
  at timestamptz not null default app_now(),
  local_at timestamp,
  day date,
  content jsonb not null default '{}',
  plain json,
  ref uuid,
  bytes bytea,
  mood mood not null default 'calm',
  texts text[] not null default '{}',
  numbers bigint[] not null default '{}',
  instants timestamptz[] not null default '{}',
  refs uuid[] not null default '{}',
  moods mood[] not null default '{}'
);
create index samples_on on samples (number) where is_on;

-- As the tables of tenants: held to one tenant by row security.
create table notes (
  tenant text not null,
  visibility text not null default 'tenant',
  id text not null,
  text text not null,
  sample text references samples (id) on delete cascade,
  primary key (tenant, id)
);
create unique index notes_text_key on notes (text);
create index notes_sample on notes (sample);
