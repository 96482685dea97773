-- contract: indexes are replaced by wider ones, before 1.0; writers wait meanwhile
-- Totals of lists without counting, as in deployments (0010_api_speed.sql there): how many executions stand in a tenant, by
-- what decides who sees them. The sum over the slots of a group is its count; a writer takes a slot that nobody has
-- locked, or makes one, so writers never wait for each other here.
create table row_counts (
  slot bigint generated always as identity primary key,
  kind text not null check (kind in ('executions', 'system_executions')),
  tenant text not null,
  visibility text not null,
  -- Only of private rows, whose creator sees them; empty for all others.
  creator text not null,
  total bigint not null
) with (fillfactor = 50);
create index row_counts_of_tenant on row_counts (kind, tenant, visibility, creator);

create function add_to_count(is_system boolean, of_tenant text, of_visibility text, of_creator text, added bigint) returns void
language plpgsql set search_path from current as $$
declare
  of_kind text := case when is_system then 'system_executions' else 'executions' end;
  seen_creator text := case when of_visibility = 'private' then of_creator else '' end;
  free bigint;
begin
  select c.slot into free from row_counts c
    where c.kind = of_kind and c.tenant = of_tenant and c.visibility = of_visibility and c.creator = seen_creator
    limit 1 for update skip locked;
  if free is null then
    insert into row_counts (kind, tenant, visibility, creator, total) values (of_kind, of_tenant, of_visibility, seen_creator, added);
  else
    update row_counts set total = total + added where slot = free;
  end if;
end
$$;

create function count_executions() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_to_count(is_system_workflow, tenant, visibility, created_by, case when tg_op = 'DELETE' then -n else n end)
    from (select is_system_workflow, tenant, visibility, created_by, count(*) as n from changed group by 1, 2, 3, 4) c;
  return null;
end
$$;

create function recount_execution() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_to_count(old.is_system_workflow, old.tenant, old.visibility, old.created_by, -1);
  perform add_to_count(new.is_system_workflow, new.tenant, new.visibility, new.created_by, 1);
  return null;
end
$$;

create trigger executions_added after insert on executions referencing new table as changed
  for each statement execute function count_executions();
create trigger executions_removed after delete on executions referencing old table as changed
  for each statement execute function count_executions();
create trigger executions_recounted after update of is_system_workflow, tenant, visibility, created_by on executions
  for each row when ((old.is_system_workflow, old.tenant, old.visibility, old.created_by)
    is distinct from (new.is_system_workflow, new.tenant, new.visibility, new.created_by))
  execute function recount_execution();

insert into row_counts (kind, tenant, visibility, creator, total)
select case when is_system_workflow then 'system_executions' else 'executions' end, tenant, visibility,
  case when visibility = 'private' then created_by else '' end, count(*)
from executions group by 1, 2, 3, 4;

-- Pages are found here, with everything that decides who sees a row; rows of other tenants that are global come with them.
create index executions_by_age on executions (created_at, id) include (tenant, visibility, created_by, is_system_workflow);
drop index executions_list;
-- The lists name the deployment, not the tenant.
create index executions_at_deployment on executions (deployment_id, tenant, created_at desc);
drop index executions_of_deployment;
