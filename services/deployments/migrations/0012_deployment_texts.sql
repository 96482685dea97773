-- expand
-- What lists and single reads show of a deployment, kept as JSON text: putting it together anew for every read was most
-- of their cost. Triggers write it in the transactions of the rows it is made of; counts and states of node instances are
-- not in it, because every operation changes them.
create table deployment_texts (
  deployment_key bigint primary key references deployments (key) on delete cascade,
  -- What executions change: {"updated_at":...  without the closing brace.
  state text not null,
  -- The other fields: ,"id":...  without the closing brace.
  body text not null,
  -- Digest of the model and, after a blank, node_types as JSON: what the rest of the object depends on.
  shared text not null
) with (fillfactor = 85, toast_tuple_target = 8160);
-- Rows of a page are read far more often than written: not compressed.
alter table deployment_texts alter state set storage external, alter body set storage external, alter shared set storage external;

create function instant_text(at timestamptz) returns text language sql stable parallel safe as $$
  select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;

create function deployment_state(d deployments) returns text language plpgsql stable set search_path from current as $$
begin
  return (
    select left(row_to_json(f)::text, -1) from (select
      instant_text(d.updated_at) as updated_at,
      d.installation_status,
      d.deployment_status,
      d.sub_services_status,
      d.sub_environments_status,
      d.sub_services_count,
      d.sub_environments_count,
      d.sub_services_count + d.sub_environments_count > 0 as has_sub_deployments,
      d.latest_execution,
      case
        when d.latest_status is null or d.latest_status = 'scheduled' then null
        when d.latest_status = 'terminated' then 'completed'
        when d.latest_status in ('failed', 'cancelled') then d.latest_status
        else 'in_progress' end as latest_execution_status,
      d.latest_workflow_id as latest_execution_workflow_id,
      d.latest_total_operations as latest_execution_total_operations,
      d.latest_finished_operations as latest_execution_finished_operations) f);
end
$$;

-- A plan made while the tables were empty must not read all of them later.
create function deployment_body(of_key bigint) returns text language plpgsql stable set search_path from current set enable_seqscan = off as $$
begin
  return (
    select ',' || substr(left(row_to_json(f)::text, -1), 2) from (select
      d.id,
      instant_text(d.created_at) as created_at,
      d.created_by,
      d.tenant as tenant_name,
      d.visibility,
      d.visibility = 'private' as private_resource,
      d.visibility as resource_availability,
      d.blueprint_id,
      d.description,
      d.display_name,
      (select s.name from sites s where s.key = d.site_key) as site_name,
      (select coalesce(json_agg(l), '[]') from (
        select l.key, l.value, instant_text(l.created_at) as created_at, l.creator_id, l.created_by
        from deployment_labels l where l.deployment_key = of_key order by l.key, l.value) l) as labels,
      d.runtime_only_evaluation,
      coalesce((select l.value from deployment_labels l
        where l.deployment_key = of_key and l.key = 'csys-env-type' order by l.value limit 1), '') as environment_type,
      d.create_execution,
      array(select g.id from deployment_group_members m join deployment_groups g on g.key = m.group_key
        where m.deployment_key = of_key order by g.id) as deployment_groups,
      p.inputs,
      p.outputs,
      p.capabilities,
      p.scaling_groups,
      p.resource_tags
    from deployments d join deployment_plans p on p.deployment_key = d.key where d.key = of_key) f);
end
$$;

create function shared_of(p deployment_plans) returns text language sql stable as $$
  select encode(p.model, 'hex') || ' ' || to_json(p.node_types)::text
$$;

create function add_texts() returns trigger language plpgsql set search_path from current set enable_seqscan = off as $$
begin
  insert into deployment_texts (deployment_key, state, body, shared)
    select d.key, deployment_state(d), deployment_body(d.key), shared_of(p)
    from added p join deployments d on d.key = p.deployment_key;
  return null;
end
$$;

-- Locks first: the statement after it sees whatever the writers before have committed. Nothing is left to do for
-- deployments that are being deleted.
create function renew_texts(keys bigint[]) returns void language plpgsql set search_path from current set enable_seqscan = off as $$
begin
  perform 1 from deployment_texts where deployment_key = any(keys) order by deployment_key for no key update;
  update deployment_texts t set body = deployment_body(d.key), shared = shared_of(p)
    from deployments d join deployment_plans p on p.deployment_key = d.key
    where d.key = any(keys) and t.deployment_key = d.key;
end
$$;

create function renew_text() returns trigger language plpgsql set search_path from current as $$
begin
  perform renew_texts(array[new.key]);
  return null;
end
$$;
create function renew_state() returns trigger language plpgsql set search_path from current as $$
begin
  update deployment_texts set state = deployment_state(new) where deployment_key = new.key;
  return null;
end
$$;
create function renew_texts_of_changed() returns trigger language plpgsql set search_path from current as $$
begin
  perform renew_texts(array(select distinct deployment_key from changed));
  return null;
end
$$;
create function renew_texts_at_site() returns trigger language plpgsql set search_path from current as $$
begin
  perform renew_texts(array(select key from deployments where site_key = new.key));
  return null;
end
$$;

create trigger texts_added after insert on deployment_plans referencing new table as added
  for each statement execute function add_texts();
create trigger texts_of_plans after update on deployment_plans referencing new table as changed
  for each statement execute function renew_texts_of_changed();
create trigger texts_of_deployments after update on deployments for each row
  when ((old.id, old.created_at, old.created_by, old.tenant, old.visibility, old.blueprint_id, old.description, old.display_name,
      old.site_key, old.runtime_only_evaluation, old.create_execution)
    is distinct from (new.id, new.created_at, new.created_by, new.tenant, new.visibility, new.blueprint_id, new.description,
      new.display_name, new.site_key, new.runtime_only_evaluation, new.create_execution))
  execute function renew_text();
create trigger states_of_deployments after update on deployments for each row
  when ((old.updated_at, old.installation_status, old.deployment_status, old.sub_services_status, old.sub_environments_status,
      old.sub_services_count, old.sub_environments_count, old.latest_execution, old.latest_status, old.latest_workflow_id,
      old.latest_total_operations, old.latest_finished_operations)
    is distinct from (new.updated_at, new.installation_status, new.deployment_status, new.sub_services_status,
      new.sub_environments_status, new.sub_services_count, new.sub_environments_count, new.latest_execution, new.latest_status,
      new.latest_workflow_id, new.latest_total_operations, new.latest_finished_operations))
  execute function renew_state();
create trigger texts_of_labels_added after insert on deployment_labels referencing new table as changed
  for each statement execute function renew_texts_of_changed();
create trigger texts_of_labels_changed after update on deployment_labels referencing new table as changed
  for each statement execute function renew_texts_of_changed();
create trigger texts_of_labels_removed after delete on deployment_labels referencing old table as changed
  for each statement execute function renew_texts_of_changed();
create trigger texts_of_members_added after insert on deployment_group_members referencing new table as changed
  for each statement execute function renew_texts_of_changed();
create trigger texts_of_members_removed after delete on deployment_group_members referencing old table as changed
  for each statement execute function renew_texts_of_changed();
create trigger texts_at_sites after update on sites for each row
  when (old.name is distinct from new.name) execute function renew_texts_at_site();

insert into deployment_texts (deployment_key, state, body, shared)
select d.key, deployment_state(d), deployment_body(d.key), shared_of(p)
from deployments d join deployment_plans p on p.deployment_key = d.key;
