-- expand
-- Node instances whose configuration began or ceased to differ, for webhooks (docs/adr/0033-webhooks.md). The rows are written in
-- the transaction of the change, whoever writes it; the loop tell-drift makes messages of them. No foreign key: it would lock the
-- deployment behind its instances, against the lock order.
create table drift_changes (
  id bigint generated always as identity primary key,
  tenant text collate "C" not null,
  deployment_key bigint not null,
  instance_id text collate "C" not null,
  is_drifted boolean not null,
  changed_at timestamptz not null default app_now()
);

create function keep_drift_change() returns trigger language plpgsql set search_path from current as $$
begin
  insert into drift_changes (tenant, deployment_key, instance_id, is_drifted)
  values (new.tenant, new.deployment_key, new.id, new.has_configuration_drift);
  return null;
end $$;
create trigger node_instances_drift_kept after update of system_properties on node_instances for each row
  when (old.has_configuration_drift is distinct from new.has_configuration_drift)
  execute function keep_drift_change();
