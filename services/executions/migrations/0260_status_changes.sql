-- expand
-- Starts and ends of executions, for webhooks (docs/adr/0033-webhooks.md). They are written in the transaction of the change, in
-- every way in which an execution starts or ends, and only in tenants that listen. The loop tell-status-changes makes messages
-- of them.
create table listening_tenants (
  tenant text primary key,
  is_listening boolean not null,
  -- Of the message that said so: an older one is ignored.
  version bigint not null
);
create table status_changes (
  id bigint generated always as identity primary key,
  tenant text not null,
  execution_id uuid not null,
  status text not null,
  deployment_id text,
  blueprint_id text,
  workflow_id text not null,
  created_by text not null,
  changed_at timestamptz not null default app_now()
);

create function keep_status_change() returns trigger language plpgsql set search_path from current as $$
begin
  if exists (select from listening_tenants l where l.tenant = new.tenant and l.is_listening) then
    insert into status_changes (tenant, execution_id, status, deployment_id, blueprint_id, workflow_id, created_by)
    values (new.tenant, new.id, new.status, new.deployment_id, new.blueprint_id, new.workflow_id, new.created_by);
  end if;
  return null;
end $$;
create trigger executions_status_kept after update of status on executions for each row
  when (old.status is distinct from new.status and new.status in ('started', 'terminated', 'failed', 'cancelled')
    -- Records of what deployments and catalog tell themselves.
    and new.workflow_id not in ('create_deployment_environment', 'upload_blueprint'))
  execute function keep_status_change();
