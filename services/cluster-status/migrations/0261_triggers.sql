-- expand
-- Triggers (docs/adr/0033-webhooks.md): signed requests from outside that start a workflow.
create table triggers (
  tenant text not null,
  id text not null,
  -- Random part of the path of its requests; unique in the manager.
  address text not null unique,
  deployment_id text not null,
  workflow_id text not null,
  -- Parameter -> JSON pointer into the body.
  parameters jsonb not null default '{}',
  fixed_parameters jsonb not null default '{}',
  scheme text not null check (scheme in ('standard', 'github')),
  is_enabled boolean not null default true,
  -- The secret, sealed by the secrets service.
  sealed bytea not null,
  created_by text not null,
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  primary key (tenant, id)
);

-- Requests with a good signature, each once: what a replay meets, and what the rate of a trigger is counted by.
create table trigger_calls (
  address text not null references triggers (address) on delete cascade,
  message_id text not null,
  tenant text not null,
  -- Request id of the execution.
  request_id uuid not null,
  execution_id text,
  received_at timestamptz not null default app_now(),
  primary key (address, message_id)
);
create index trigger_calls_received on trigger_calls (received_at);
create index trigger_calls_rate on trigger_calls (address, received_at);
