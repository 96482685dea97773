-- contract: indexes on large tables, before 1.0; writers wait while they are built
-- Totals of lists without counting: how many rows stand in a tenant, by what decides who sees them. Exact in every
-- snapshot, because the triggers write in the transaction of the rows. The sum over the slots of a group is its count; a
-- writer takes a slot that nobody has locked, or makes one, so writers never wait for each other here.
create table row_counts (
  slot bigint generated always as identity primary key,
  kind text not null check (kind in ('deployments', 'node_instances')),
  tenant text collate "C" not null,
  visibility text not null,
  -- Only of private rows, whose creator sees them; empty for all others.
  creator text not null,
  total bigint not null
) with (fillfactor = 50);
create index row_counts_of_tenant on row_counts (kind, tenant, visibility, creator);

create function add_to_count(of_kind text, of_tenant text, of_visibility text, of_creator text, added bigint) returns void
language plpgsql set search_path from current as $$
declare
  seen_creator text := case when of_visibility = 'private' then coalesce(of_creator, '') else '' end;
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

-- For both tables, whose columns have other names: node instances carry the visibility of their deployment.
create function count_rows() returns trigger language plpgsql set search_path from current as $$
declare
  creator_column text := case when tg_table_name = 'deployments' then 'created_by' else 'private_to' end;
begin
  execute format(
    'select add_to_count(%L, tenant, visibility, creator, added) from (
       select tenant, visibility, case when visibility = ''private'' then %I end as creator, %s count(*) as added from changed group by 1, 2, 3) c',
    tg_table_name, creator_column, case when tg_op = 'DELETE' then '-' else '' end);
  return null;
end
$$;

create function recount_row() returns trigger language plpgsql set search_path from current as $$
begin
  if tg_table_name = 'deployments' then
    perform add_to_count('deployments', old.tenant, old.visibility, old.created_by, -1);
    perform add_to_count('deployments', new.tenant, new.visibility, new.created_by, 1);
  else
    perform add_to_count('node_instances', old.tenant, old.visibility, old.private_to, -1);
    perform add_to_count('node_instances', new.tenant, new.visibility, new.private_to, 1);
  end if;
  return null;
end
$$;

create trigger deployments_added after insert on deployments referencing new table as changed
  for each statement execute function count_rows();
create trigger deployments_removed after delete on deployments referencing old table as changed
  for each statement execute function count_rows();
create trigger deployments_recounted after update of tenant, visibility, created_by on deployments
  for each row when ((old.tenant, old.visibility, old.created_by) is distinct from (new.tenant, new.visibility, new.created_by))
  execute function recount_row();
create trigger node_instances_added after insert on node_instances referencing new table as changed
  for each statement execute function count_rows();
create trigger node_instances_removed after delete on node_instances referencing old table as changed
  for each statement execute function count_rows();
create trigger node_instances_recounted after update of tenant, visibility, private_to on node_instances
  for each row when ((old.tenant, old.visibility, old.private_to) is distinct from (new.tenant, new.visibility, new.private_to))
  execute function recount_row();

insert into row_counts (kind, tenant, visibility, creator, total)
select 'deployments', tenant, visibility, case when visibility = 'private' then created_by else '' end, count(*) from deployments group by 2, 3, 4
union all
select 'node_instances', tenant, visibility, case when visibility = 'private' then coalesce(private_to, '') else '' end, count(*) from node_instances group by 2, 3, 4;

-- Pages of one tenant in the order of lists without _sort, whatever the other tenants hold, without reading the table.
create index deployments_page on deployments (tenant, created_at, key) include (visibility, created_by);
create index deployments_global_page on deployments (created_at, key) include (tenant) where visibility = 'global';
-- Searches name key and value; the tenant is that of the deployment.
create index deployment_labels_pair on deployment_labels (key, value, deployment_key);
