-- expand
-- Deployment updates (reference/rest-api.md 5.3). The id is `<deployment>-<uuid>`.
create table deployment_updates (
  id text collate "C" primary key,
  deployment_key bigint not null references deployments (key) on delete cascade,
  state text not null default 'updating' check (state in ('updating', 'successful', 'failed')),
  execution_id text collate "C",
  created_by text not null,
  created_at timestamptz not null default app_now(),
  -- The rights with which the new plan is prepared: those of the request.
  is_administrator boolean not null,
  old_blueprint_id text collate "C",
  new_blueprint_id text collate "C" not null,
  old_inputs json not null,
  new_inputs json not null,
  runtime_only_evaluation boolean not null,
  -- {plan, labels} as prepared: what is carried out is what was compared.
  preparation json,
  steps json not null default '[]',
  labels_to_create json,
  deployment_update_nodes json,
  deployment_update_node_instances json,
  modified_entity_ids json,
  -- {instances, relationships}: what goes away when the update ends.
  leaving json
);
create index updates_of_deployment on deployment_updates (deployment_key, created_at);
create index updates_order on deployment_updates (created_at, id);
create index updates_by_execution on deployment_updates (execution_id) where execution_id is not null;
