-- contract: triggers take over from the dropped foreign keys
-- A step writes about ten rows below one execution, each of which looked its parent up again, and called a function that
-- guards the end of the execution. The step has the execution's row in its hands, so no row can come without its parent;
-- what a removed parent leaves is removed by it, once per statement.
drop trigger executions_end on executions;
create trigger executions_end before update of status on executions
  for each row when (old.phase = 'ended' and new.status <> old.status) execute function refuse_leaving_the_end();

alter table instance_states drop constraint instance_states_execution_id_fkey;
create function remove_instance_states() returns trigger language plpgsql set search_path from current as $$
begin
  delete from instance_states s using removed r where s.execution_id = r.id;
  return null;
end
$$;
create trigger executions_states_removed after delete on executions referencing old table as removed
  for each statement execute function remove_instance_states();

alter table tasks drop constraint tasks_graph_id_fkey;
alter table task_marks drop constraint task_marks_graph_id_fkey;
create function remove_graph_tasks() returns trigger language plpgsql set search_path from current as $$
begin
  delete from tasks t using removed r where t.graph_id = r.id;
  delete from task_marks m using removed r where m.graph_id = r.id;
  return null;
end
$$;
create trigger tasks_graphs_tasks_removed after delete on tasks_graphs referencing old table as removed
  for each statement execute function remove_graph_tasks();
