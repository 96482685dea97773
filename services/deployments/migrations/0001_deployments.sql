-- expand
-- Deployments and what belongs to them. Ids sort bytewise ("C"), which is also what makes UUIDv7 comparable as text.

create table sites (
  key bigint generated always as identity primary key,
  tenant text collate "C" not null,
  name text collate "C" not null,
  latitude double precision,
  longitude double precision,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  unique (tenant, name)
);
create index sites_global on sites (name) where visibility = 'global';

-- Parts of plans that many deployments share (workflows, operations of nodes), each text stored once.
-- Written under a shared advisory lock that the sweep takes exclusively, see store/documents.sql.ts.
create table documents (
  digest bytea primary key,
  body json not null,
  created_at timestamptz not null default app_now()
);
create index documents_age on documents (created_at);

-- Narrow on purpose: lists read this table only; plan-sized columns stand in deployment_plans.
create table deployments (
  key bigint generated always as identity primary key,
  tenant text collate "C" not null,
  id text collate "C" not null,
  blueprint_id text collate "C",
  display_name text not null,
  description text,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  site_key bigint references sites (key) on delete set null,
  runtime_only_evaluation boolean not null default false,
  -- Raised by every change of the model's structure.
  revision bigint not null default 1,
  installation_status text not null default 'inactive' check (installation_status in ('active', 'inactive')),
  create_execution text collate "C",
  latest_execution text collate "C",
  -- As the engine names it; presented as in_progress, completed, failed, cancelled.
  latest_status text,
  latest_workflow_id text,
  -- When latest_status was written: what happened before is no news.
  latest_at timestamptz,
  latest_total_operations integer not null default 0,
  latest_finished_operations integer not null default 0,
  -- Label csys-obj-type is environment.
  is_environment boolean not null default false,
  own_status text not null default 'requires_attention',
  deployment_status text not null default 'requires_attention',
  sub_services_status text,
  sub_environments_status text,
  sub_services_count integer not null default 0,
  sub_environments_count integer not null default 0,
  -- {request_id, force, delete_logs} of a DELETE whose execution has not ended.
  deletion json,
  unique (tenant, id)
) with (fillfactor = 85);
-- The order of lists without _sort, and their totals, without reading the table.
create index deployments_by_age on deployments (created_at, key);
create index deployments_seen on deployments (visibility, tenant, created_by);
create index deployments_by_id on deployments (id);
create index deployments_of_blueprint on deployments (tenant, blueprint_id);
create index deployments_at_site on deployments (site_key) where site_key is not null;
create index deployments_global on deployments (id) where visibility = 'global';

create table deployment_plans (
  deployment_key bigint primary key references deployments (key) on delete cascade,
  -- {workflows, groups, policy_types, policy_triggers, deployment_settings}
  model bytea not null,
  inputs json not null,
  outputs json not null,
  capabilities json not null,
  scaling_groups json not null,
  resource_tags json not null,
  -- Every type that occurs in a hierarchy of a node, for workflow availability rules.
  node_types text[] not null
);

create table deployment_labels (
  deployment_key bigint not null references deployments (key) on delete cascade,
  tenant text collate "C" not null,
  key text collate "C" not null,
  value text collate "C" not null,
  created_at timestamptz not null default app_now(),
  created_by text not null,
  creator_id integer not null,
  primary key (deployment_key, key, value)
);
create index deployment_labels_search on deployment_labels (tenant, key, value, deployment_key);

-- csys-obj-parent as edges.
create table deployment_parents (
  child_key bigint not null references deployments (key) on delete cascade,
  parent_key bigint not null references deployments (key) on delete cascade,
  primary key (child_key, parent_key)
);
create index deployment_children on deployment_parents (parent_key, child_key);

create table nodes (
  deployment_key bigint not null references deployments (key) on delete cascade,
  id text collate "C" not null,
  position integer not null,
  type text not null,
  host_id text,
  -- {type_hierarchy, operations, plugins, plugins_to_install, relationships}
  definition bytea not null,
  properties json not null,
  number_of_instances integer not null,
  planned_number_of_instances integer not null,
  deploy_number_of_instances integer not null,
  min_number_of_instances integer not null,
  max_number_of_instances integer not null,
  primary key (deployment_key, id)
);
create index nodes_by_definition on nodes (definition);

create table node_instances (
  tenant text collate "C" not null,
  id text collate "C" not null,
  deployment_key bigint not null references deployments (key) on delete cascade,
  node_id text collate "C" not null,
  index integer not null,
  host_id text,
  state text not null default 'uninitialized',
  version integer not null default 1,
  -- The version at which runtime_properties were last written: changes of state alone are no conflict for operations.
  properties_version integer not null default 1,
  runtime_properties json not null default '{}',
  system_properties jsonb,
  relationships json not null default '[]',
  scaling_groups json not null default '[]',
  is_status_check_ok boolean not null generated always as (coalesce(system_properties -> 'status' -> 'ok' = 'true'::jsonb, false)) stored,
  has_configuration_drift boolean not null generated always as (
    jsonb_path_exists(coalesce(system_properties, '{}'), '$.configuration_drift.result ? (@ == true || @.type() == "object" || @.type() == "string" || @.type() == "number")')
    or jsonb_path_exists(coalesce(system_properties, '{}'), '$.source_relationships_configuration_drift.*.result ? (@ == true || @.type() == "object" || @.type() == "string" || @.type() == "number")')
    or jsonb_path_exists(coalesce(system_properties, '{}'), '$.target_relationships_configuration_drift.*.result ? (@ == true || @.type() == "object" || @.type() == "string" || @.type() == "number")')
  ) stored,
  -- The last state write of the engine: repeated and late ones are dropped.
  applied_execution text,
  applied_seq bigint,
  -- The operation attempt that last wrote runtime properties.
  written_task text,
  written_attempt integer,
  -- Of the deployment, so that lists of a million instances need no join; private_to is its creator while it is private.
  visibility text not null,
  private_to text,
  primary key (id, tenant)
) with (fillfactor = 85);
create index node_instances_of_deployment on node_instances (deployment_key, node_id, index);

create table inter_deployment_dependencies (
  id uuid primary key,
  tenant text collate "C" not null,
  dependency_creator text not null,
  source_key bigint references deployments (key) on delete cascade,
  target_key bigint references deployments (key) on delete set null,
  target_deployment_func json,
  external_source json,
  external_target json,
  visibility text not null,
  created_by text not null,
  created_at timestamptz not null default app_now()
);
create index dependencies_order on inter_deployment_dependencies (tenant, created_at, id);
create index dependencies_of_source on inter_deployment_dependencies (source_key);
create index dependencies_on_target on inter_deployment_dependencies (target_key);

create table deployment_modifications (
  id uuid primary key,
  deployment_key bigint not null references deployments (key) on delete cascade,
  context json,
  modified_nodes json not null,
  status text not null check (status in ('started', 'finished', 'rolledback')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  ended_at timestamptz,
  added_and_related json not null,
  removed_and_related json not null,
  before_modification json not null,
  -- Scaling groups and node counts before the start, for the rollback.
  before_counts json not null,
  before_rollback json not null default '[]'
);
create unique index modifications_one_started on deployment_modifications (deployment_key) where status = 'started';
create index modifications_order on deployment_modifications (deployment_key, created_at);

create table deployment_filters (
  tenant text collate "C" not null,
  id text collate "C" not null,
  value json not null,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  is_system_filter boolean not null default false,
  created_by text not null,
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  primary key (tenant, id)
);
create index deployment_filters_global on deployment_filters (id) where visibility = 'global';

-- Results of CallModel: a repeated call answers the first one.
create table model_calls (
  execution_id text not null,
  call_name text not null,
  deployment_key bigint not null references deployments (key) on delete cascade,
  result json not null,
  created_at timestamptz not null default app_now(),
  primary key (execution_id, call_name)
);
create index model_calls_of_deployment on model_calls (deployment_key);

-- Edits of a JSON object in order: {edit: set, path, value} makes missing parents, {edit: copy, from, to} of nothing
-- copies null, {edit: unset, path}.
create function edit_json(doc jsonb, edits jsonb) returns jsonb language plpgsql immutable parallel safe as $$
declare
  e jsonb;
  target text[];
  value jsonb;
begin
  doc := coalesce(doc, '{}');
  for e in select * from jsonb_array_elements(edits) loop
    if e ->> 'edit' = 'unset' then
      doc := doc #- array(select jsonb_array_elements_text(e -> 'path'));
      continue;
    end if;
    if e ->> 'edit' = 'copy' then
      target := array(select jsonb_array_elements_text(e -> 'to'));
      value := coalesce(doc #> array(select jsonb_array_elements_text(e -> 'from')), 'null');
    else
      target := array(select jsonb_array_elements_text(e -> 'path'));
      value := coalesce(e -> 'value', 'null');
    end if;
    for i in 1 .. coalesce(array_length(target, 1), 0) - 1 loop
      if jsonb_typeof(doc #> target[1:i]) is distinct from 'object' then
        doc := jsonb_set(doc, target[1:i], '{}', true);
      end if;
    end loop;
    doc := jsonb_set(doc, target, value, true);
  end loop;
  return doc;
end
$$;

create table outbox (id uuid primary key, envelope jsonb not null, created_at timestamptz not null default app_now());
create table inbox (consumer text not null, message_id uuid not null, received_at timestamptz not null default app_now(), primary key (consumer, message_id));

insert into deployment_filters (tenant, id, value, visibility, is_system_filter, created_by)
select 'default_tenant', f.id, f.value::json, 'global', true, 'admin'
from (
  values
    ('csys-environment-filter', '[{"key": "csys-obj-type", "values": ["environment"], "operator": "any_of", "type": "label"}, {"key": "csys-obj-parent", "values": [], "operator": "is_null", "type": "label"}]'),
    ('csys-service-filter', '[{"key": "csys-obj-type", "values": ["environment"], "operator": "is_not", "type": "label"}, {"key": "csys-obj-parent", "values": [], "operator": "is_null", "type": "label"}]'),
    ('csys-k8s-filter', '[{"key": "obj-type", "values": ["k8s"], "operator": "any_of", "type": "label"}]'),
    ('csys-terraform-filter', '[{"key": "obj-type", "values": ["terraform"], "operator": "any_of", "type": "label"}]')
) as f (id, value)
union all
select 'default_tenant', kind || '-deployments', json_build_array(json_build_object('key', 'obj-type', 'values', json_build_array(kind), 'operator', 'any_of', 'type', 'label')), 'global', true, 'admin'
from unnest(array['aws', 'azure', 'gcp', 'terragrunt', 'helm', 'ansible', 'starlingx', 'vsphere', 'docker', 'netconf', 'fabric', 'libvirt', 'utilities', 'host-pool', 'diamond', 'openstack', 'openstack-v3', 'vcloud']) as kind;
