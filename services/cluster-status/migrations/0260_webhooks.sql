-- expand
-- Webhooks (docs/adr/0033-webhooks.md): what other systems are told, and every delivery until it is pruned.
create table webhooks (
  tenant text not null,
  id text not null,
  -- Deliveries refer to it: a webhook that is made again under the same id is another one.
  uid uuid not null unique,
  url text not null,
  -- Host and port of `url`: the circuit breaker counts by it.
  host text not null,
  events text[] not null,
  filter jsonb,
  format text not null check (format in ('standard', 'cloudevents', 'slack', 'template')),
  template text,
  max_attempts integer not null check (max_attempts between 1 and 50),
  order_by text check (order_by in ('deployment')),
  header_names text[] not null default '{}',
  is_enabled boolean not null default true,
  disabled_reason text,
  disabled_at timestamptz,
  former_key_until timestamptz,
  -- Signing keys and values of headers, sealed by the secrets service.
  sealed bytea not null,
  -- Goes up with each change of `sealed`: two changes at once do not undo each other.
  version integer not null default 1,
  created_by text not null,
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  primary key (tenant, id),
  check ((format = 'template') = (template is not null))
);

-- States: src/webhooks/domain/delivery.machine.ts. A pending delivery is work for the loop deliver-webhooks of any replica, under
-- a lease; `attempts` is the fencing token.
create table webhook_deliveries (
  id uuid primary key,
  webhook uuid not null references webhooks (uid) on delete cascade,
  tenant text not null,
  -- Of the fact: told twice, written once.
  event_id text not null,
  event text not null,
  order_key text,
  seq bigint generated always as identity,
  payload text not null,
  content_type text not null,
  state text not null default 'pending' check (state in ('pending', 'delivered', 'failed')),
  attempts integer not null default 0,
  last_status integer,
  error text,
  answer text,
  created_at timestamptz not null default app_now(),
  next_attempt_at timestamptz not null default app_now(),
  give_up_at timestamptz not null,
  ended_at timestamptz,
  lease_owner text,
  lease_until timestamptz,
  unique (webhook, event_id),
  check ((state = 'pending') = (ended_at is null)),
  check (state = 'pending' or lease_owner is null)
);
create index webhook_deliveries_due on webhook_deliveries (webhook, next_attempt_at) where state = 'pending';
create index webhook_deliveries_next on webhook_deliveries (next_attempt_at) where state = 'pending';
create index webhook_deliveries_leased on webhook_deliveries (webhook) where lease_owner is not null;
create index webhook_deliveries_ordered on webhook_deliveries (webhook, order_key, seq)
  where state = 'pending' and order_key is not null;
create index webhook_deliveries_list on webhook_deliveries (webhook, created_at);
create index webhook_deliveries_ended on webhook_deliveries (ended_at) where state <> 'pending';

-- Circuit breaker: failures in a row of a host, as the webhooks of one tenant see it. No row: the host answers.
create table webhook_hosts (
  tenant text not null,
  host text not null,
  failures integer not null,
  open_until timestamptz,
  primary key (tenant, host)
);

-- What executions was last told: whether a tenant has webhooks for events of executions.
create table webhook_interests (
  tenant text primary key,
  is_listening boolean not null,
  version bigint not null
);
