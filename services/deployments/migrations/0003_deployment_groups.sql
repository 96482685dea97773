-- expand
-- Deployment groups: named sets of deployments, with defaults for deployments that are made in them.

create table deployment_groups (
  key bigint generated always as identity primary key,
  tenant text collate "C" not null,
  -- Not checked: any text.
  id text collate "C" not null,
  description text,
  default_blueprint_id text collate "C",
  default_inputs json,
  -- Deployments made in the group so far; {count} of id templates.
  creation_counter integer not null default 0,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  unique (tenant, id)
);
create index deployment_groups_list on deployment_groups (tenant, created_at, key);
create index deployment_groups_global on deployment_groups (id) where visibility = 'global';

create table deployment_group_members (
  -- Order of joining.
  seq bigint generated always as identity,
  group_key bigint not null references deployment_groups (key) on delete cascade,
  deployment_key bigint not null references deployments (key) on delete cascade,
  primary key (group_key, deployment_key)
);
create index deployment_group_members_order on deployment_group_members (group_key, seq);
create index deployment_groups_of on deployment_group_members (deployment_key);

create table deployment_group_labels (
  group_key bigint not null references deployment_groups (key) on delete cascade,
  key text collate "C" not null,
  value text collate "C" not null,
  created_at timestamptz not null default app_now(),
  created_by text not null,
  creator_id integer not null,
  primary key (group_key, key, value)
);

-- Requests that named an idempotency key: repeating one creates nothing twice.
create table deployment_group_requests (
  tenant text collate "C" not null,
  request_id text not null,
  payload_hash text not null,
  created_at timestamptz not null default app_now(),
  primary key (tenant, request_id)
);
create index deployment_group_requests_age on deployment_group_requests (created_at);
