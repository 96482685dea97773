-- expand
-- Executions, their task graphs and events: the durable engine's memory.

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

-- Locked by whoever starts or ends an execution of the deployment: first in the lock order.
create table deployment_guards (
  tenant text not null,
  deployment_id text not null,
  primary key (tenant, deployment_id)
);

create table executions (
  id uuid primary key,
  tenant text not null,
  -- Same request, same row: a repeated POST never starts twice.
  request_id text not null,
  payload_hash text not null,
  workflow_id text not null,
  -- The built-in program that carries it out; null for a workflow of a plugin or script.
  program text,
  deployment_id text,
  deployment_display_name text,
  blueprint_id text,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  started_at timestamptz,
  ended_at timestamptz,
  scheduled_for timestamptz,
  status text not null check (status in ('pending', 'started', 'terminated', 'failed', 'cancelled', 'cancelling',
    'force_cancelling', 'kill_cancelling', 'queued', 'scheduled')),
  error text,
  parameters jsonb not null default '{}',
  is_system_workflow boolean not null default false,
  is_dry_run boolean not null default false,
  is_forced boolean not null default false,
  is_resumed boolean not null default false,
  allow_custom_parameters boolean not null default false,
  wait_after_fail_s integer not null default 600 check (wait_after_fail_s >= 0),
  total_operations integer,
  finished_operations integer,
  -- sha256 of the token that its operations may call the API with.
  token_hash text not null,

  -- The engine's own columns.
  phase text not null check (phase in ('waiting', 'planning', 'running', 'calling', 'ending', 'ended')),
  -- The stage in work: {kind: 'graph' | 'call', name, memo, request?}.
  stage jsonb,
  -- Ended stages in order: StageResult of packages/task-graph.
  history jsonb not null default '[]',
  graph_id uuid,
  -- Operations of the graphs before the current one.
  earlier_total integer not null default 0,
  earlier_finished integer not null default 0,
  -- Raised by every change of the graph: a replica's cached graph is good only for this number.
  version bigint not null default 0,
  last_event_seq bigint not null default 0,
  last_state_seq bigint not null default 0,
  -- How it will end: {status, error}; set once, before the last effects are delivered.
  outcome jsonb,
  -- When the engine must look again although nothing happens (retry, deadline, cancel limit).
  wake_at timestamptz,
  cancel_requested_at timestamptz,
  unique (tenant, request_id),
  check ((status in ('terminated', 'failed', 'cancelled')) = (phase = 'ended')),
  check ((status in ('queued', 'scheduled')) = (phase = 'waiting'))
);
create index executions_list on executions (tenant, created_at, id);
create index executions_of_deployment on executions (tenant, deployment_id, created_at desc);
create index executions_active on executions (tenant, deployment_id) where phase <> 'ended';
create index executions_token on executions (token_hash) where phase <> 'ended';
create index executions_wake on executions (wake_at) where wake_at is not null;
create index executions_driven on executions (created_at) where phase in ('planning', 'calling', 'ending');
create index executions_waiting on executions (created_at) where phase = 'waiting';

-- A terminal status is never left, whatever the code believes (a resume goes through the session setting).
create function refuse_leaving_the_end() returns trigger language plpgsql as $$
begin
  if old.phase = 'ended' and new.status <> old.status
     and coalesce(current_setting('baton.is_resuming', true), '') <> 'yes' then
    raise exception 'execution % has ended as %', old.id, old.status using errcode = 'BT001';
  end if;
  return new;
end $$;
create trigger executions_end before update of status on executions
  for each row execute function refuse_leaving_the_end();

create table tasks_graphs (
  id uuid primary key,
  execution_id uuid not null references executions on delete cascade,
  name text not null,
  created_at timestamptz not null default app_now(),
  wait_after_fail_ms integer not null,
  is_dry_run boolean not null,
  -- GraphFlags of packages/task-graph.
  flags jsonb not null,
  unique (execution_id, name)
);

create table tasks (
  id uuid primary key,
  graph_id uuid not null references tasks_graphs on delete cascade,
  execution_id uuid not null,
  idx integer not null,
  -- What never changes: TaskSpec of packages/task-graph without idx.
  spec jsonb not null,
  state text not null check (state in ('pending', 'sending', 'sent', 'started', 'rescheduled', 'response-sent',
    'succeeded', 'failed')),
  -- How often it was dispatched: the fencing token of a run.
  attempt integer not null,
  losses integer not null,
  retries integer not null,
  -- Epoch milliseconds.
  not_before bigint,
  error jsonb,
  result jsonb,
  -- The lease: who runs the current attempt and until when; null while nobody claimed it.
  worker_id text,
  lease_until timestamptz,
  dispatched_at timestamptz,
  is_kill_requested boolean not null default false,
  version bigint not null,
  created_at timestamptz not null default app_now(),
  unique (graph_id, idx)
) with (fillfactor = 80);
create index tasks_changed on tasks (graph_id, version);
create index tasks_leased on tasks (lease_until) where lease_until is not null;
create index tasks_unclaimed on tasks (dispatched_at) where state = 'sent' and worker_id is null;
create index tasks_of_execution on tasks (execution_id);

-- Node-instance states decided here and not yet known to deployments, in order.
create table instance_states (
  execution_id uuid not null references executions on delete cascade,
  seq bigint not null,
  node_instance_id text not null,
  -- Null when only system properties change.
  state text,
  -- SystemPropertyEdit[] of packages/task-graph.
  edits jsonb,
  created_at timestamptz not null default app_now(),
  primary key (execution_id, seq)
);

create table events (
  storage_id bigint generated always as identity,
  tenant text not null,
  -- Null for events of an execution group.
  execution_id uuid,
  -- Gap-free within the execution.
  seq bigint not null,
  is_log boolean not null,
  event_type text,
  level text,
  logger text,
  message text not null,
  error_causes jsonb,
  operation text,
  node_instance_id text,
  node_name text,
  source_id text,
  target_id text,
  worker text,
  blueprint_id text,
  deployment_id text,
  deployment_display_name text,
  workflow_id text,
  visibility text not null,
  created_by text not null,
  execution_group_id text,
  reported_at timestamptz not null,
  created_at timestamptz not null default app_now(),
  primary key (created_at, storage_id)
) partition by range (created_at);
create table events_rest partition of events default;
create index events_of_execution on events (execution_id, seq);
create index events_list on events (tenant, created_at, storage_id);
create index events_of_deployment on events (tenant, deployment_id, created_at);

-- Batches of log lines that were stored: a repeated batch changes nothing.
create table event_batches (
  batch_id uuid primary key,
  received_at timestamptz not null default app_now()
);

-- Workers that reported in, for status and for `why`.
create table workers (
  id text primary key,
  about jsonb not null,
  last_seen timestamptz not null default app_now()
);
