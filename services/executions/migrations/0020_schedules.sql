-- expand
-- Execution schedules and what became of each of their occurrences.

create table execution_schedules (
  key uuid primary key,
  tenant text not null,
  deployment_id text not null,
  -- Chosen by the user, unique within the deployment.
  id text not null,
  workflow_id text not null,
  parameters jsonb,
  -- {} or {allow_custom_parameters, force, is_dry_run, wait_after_fail}.
  execution_arguments jsonb not null default '{}',
  since timestamptz,
  until timestamptz,
  -- {recurrence, count, weekdays} or {rrule}.
  rule jsonb not null,
  slip_minutes integer not null default 0 check (slip_minutes >= 0),
  stop_on_fail boolean not null default false,
  enabled boolean not null default true,
  next_occurrence timestamptz,
  latest_execution_id uuid references executions on delete set null,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  unique (tenant, deployment_id, id)
);
create index execution_schedules_due on execution_schedules (next_occurrence)
  where enabled and next_occurrence is not null;
create index execution_schedules_list on execution_schedules (tenant, created_at, key);
create index execution_schedules_latest on execution_schedules (latest_execution_id)
  where latest_execution_id is not null;

-- One row per occurrence whose time has come: the key is why none fires twice, whoever looks at the clock.
create table schedule_occurrences (
  schedule_key uuid not null references execution_schedules on delete cascade,
  occurrence timestamptz not null,
  -- due: to be started; fired: its execution was accepted; refused: its start was; skipped: it was not tried.
  outcome text not null check (outcome in ('due', 'fired', 'refused', 'skipped')),
  reason text,
  execution_id uuid,
  decided_at timestamptz not null default app_now(),
  primary key (schedule_key, occurrence),
  check ((outcome = 'fired') = (execution_id is not null)),
  check ((outcome in ('refused', 'skipped')) = (reason is not null))
);
create index schedule_occurrences_due on schedule_occurrences (decided_at) where outcome = 'due';
create index schedule_occurrences_old on schedule_occurrences (decided_at);
