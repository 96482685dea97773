-- contract: indexes on large tables, before 1.0; writers wait while they are built
-- Execution groups: one workflow on the deployments of a group, at most `concurrency` of them at a time.

create table execution_groups (
  tenant text not null,
  id text not null,
  deployment_group_id text,
  workflow_id text not null,
  -- 0 pauses: nothing of the group is started.
  concurrency integer not null check (concurrency >= 0),
  -- Deployment groups that collect the deployments whose execution succeeded, or failed.
  success_group_id text,
  failure_group_id text,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  -- Some member may be queued: what the dequeue loop looks for. Cleared under the row's lock when none is.
  has_queued boolean not null default false,
  primary key (tenant, id)
);
create index execution_groups_list on execution_groups (tenant, created_at, id);
create index execution_groups_queued on execution_groups (created_at) where has_queued;

-- No foreign key: members must not wait for the row that the dequeue locks.
alter table executions add column execution_group_id text;
create index executions_of_group on executions (tenant, execution_group_id, created_at, id)
  where execution_group_id is not null;
create index executions_group_active on executions (tenant, execution_group_id)
  where execution_group_id is not null and phase not in ('waiting', 'ended');
create index executions_group_queued on executions (tenant, execution_group_id, created_at, id)
  where execution_group_id is not null and phase = 'waiting';
create index events_of_group on events (tenant, execution_group_id, created_at) where execution_group_id is not null;
