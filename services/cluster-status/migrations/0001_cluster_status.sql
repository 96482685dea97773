-- expand
-- The manager as a whole: which processes run, on which hosts.

create table outbox (
  id uuid primary key,
  envelope jsonb not null,
  created_at timestamptz not null default app_now()
);
create table inbox (
  consumer text not null,
  message_id uuid not null,
  received_at timestamptz not null default app_now(),
  primary key (consumer, message_id)
);

-- Hosts that run services. One that was taken out comes back when it reports again.
create table managers (
  id integer generated always as identity primary key,
  hostname text not null unique,
  address text not null,
  version text not null,
  distribution text not null,
  distro_release text not null,
  last_seen timestamptz not null default app_now()
);

-- Running processes as they report themselves.
create table instances (
  service text not null,
  instance_id text not null,
  hostname text not null,
  version text not null,
  pid bigint not null,
  started_at timestamptz not null,
  -- {name: {ok, detail}}
  checks jsonb not null,
  rss_bytes bigint not null,
  last_seen timestamptz not null default app_now(),
  primary key (service, instance_id)
);
create index instances_seen on instances (last_seen);
