-- contract: the check of the kinds is replaced by a wider one
-- Totals of the list of nodes without counting. Nodes have the tenant, visibility and creator of their deployment.
alter table row_counts drop constraint row_counts_kind_check;
alter table row_counts add constraint row_counts_kind_check check (kind in ('deployments', 'node_instances', 'nodes'));

create function count_nodes() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_to_count('nodes', d.tenant, d.visibility, d.created_by, case when tg_op = 'DELETE' then -n else n end)
    from (select deployment_key, count(*) as n from changed group by 1) c join deployments d on d.key = c.deployment_key;
  return null;
end
$$;

-- Before the deployment is gone: who saw its nodes is not known afterwards.
create function discount_nodes() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_to_count('nodes', old.tenant, old.visibility, old.created_by, -n)
    from (select count(*) as n from nodes where deployment_key = old.key) c where n > 0;
  return old;
end
$$;

create function recount_nodes() returns trigger language plpgsql set search_path from current as $$
begin
  perform add_to_count('nodes', old.tenant, old.visibility, old.created_by, -n), add_to_count('nodes', new.tenant, new.visibility, new.created_by, n)
    from (select count(*) as n from nodes where deployment_key = new.key) c where n > 0;
  return null;
end
$$;

create trigger nodes_added after insert on nodes referencing new table as changed
  for each statement execute function count_nodes();
create trigger nodes_removed after delete on nodes referencing old table as changed
  for each statement execute function count_nodes();
create trigger nodes_discounted before delete on deployments for each row execute function discount_nodes();
create trigger nodes_recounted after update of tenant, visibility, created_by on deployments
  for each row when ((old.tenant, old.visibility, old.created_by) is distinct from (new.tenant, new.visibility, new.created_by))
  execute function recount_nodes();

insert into row_counts (kind, tenant, visibility, creator, total)
select 'nodes', d.tenant, d.visibility, case when d.visibility = 'private' then d.created_by else '' end, count(*)
from nodes n join deployments d on d.key = n.deployment_key group by 2, 3, 4;
