-- expand
-- Plugins updates (reference/rest-api.md 5.18): other versions of plugins for a blueprint and its deployments. Each row is
-- work for the loop drive-plugins-updates of any replica, under a lease.
create table plugins_updates (
  id text collate "C" primary key,
  tenant text collate "C" not null,
  blueprint_id text collate "C" not null,
  -- A hidden copy of the blueprint with the new plan; named before it is made, so that a crash loses none.
  temp_blueprint_id text collate "C" not null,
  state text not null default 'updating'
    check (state in ('updating', 'executing_workflow', 'finalizing', 'successful', 'failed', 'no_changes_required')),
  execution_id text collate "C",
  visibility text not null,
  created_by text collate "C" not null,
  -- The rights with which new plans are prepared: those of the request.
  is_administrator boolean not null,
  created_at timestamptz not null default app_now(),
  forced boolean not null,
  all_tenants boolean not null,
  -- PluginSelection of contracts.
  selection json not null,
  auto_correct_types boolean not null,
  -- [{tenant, id, request_id, state, since}]: the deployments, one updated after the other.
  deployments json not null default '[]',
  -- {status, error}: decided before the blueprint is switched.
  outcome json,
  lease_owner text,
  lease_until timestamptz,
  check (state <> 'finalizing' or outcome is not null)
);
create index plugins_updates_order on plugins_updates (tenant, created_at, id);
create index plugins_updates_open on plugins_updates (created_at) where state in ('updating', 'executing_workflow', 'finalizing');
create index plugins_updates_of on plugins_updates (tenant, blueprint_id) where state in ('updating', 'executing_workflow', 'finalizing');
