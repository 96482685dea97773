-- expand
-- What the engine says of a deployment's executions, each in one call: at the begin and at the end of every execution a
-- transaction of five or six statements was most of what deployments did.

-- Writes the latest execution (ids are UUIDv7: a later one is greater) and, when the execution ended, whether the deployment
-- is installed: active when no node instance is in a state other than started. The row is locked by the caller.
create function write_execution_status(of_key bigint, execution text, its_status text, its_workflow text, total integer,
  finished integer, has_ended boolean, resumed_at timestamptz, own_if_active text, own_if_inactive text,
  out latest_status text, out installation_status text, out is_latest boolean, out is_related boolean)
language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  d deployments;
  own text;
begin
  select * into d from deployments where key = of_key;
  is_latest := (coalesce(d.latest_execution, '') < execution
    or (d.latest_execution = execution and (has_ended or d.latest_at < resumed_at))) is true;
  is_related := exists (select 1 from deployment_parents where child_key = of_key)
    or exists (select 1 from deployment_parents where parent_key = of_key);
  installation_status := d.installation_status;
  if has_ended then
    installation_status := case when exists (select 1 from node_instances ni
      where ni.deployment_key = of_key and ni.state <> 'started') then 'inactive' else 'active' end;
  end if;
  latest_status := d.latest_status;
  if is_latest then
    latest_status := its_status;
    own := case when installation_status = 'active' then own_if_active else own_if_inactive end;
    update deployments u set
      latest_execution = execution, latest_status = its_status, latest_at = app_now(), latest_workflow_id = its_workflow,
      latest_total_operations = total, latest_finished_operations = finished,
      installation_status = write_execution_status.installation_status, own_status = own,
      deployment_status = case when is_related then u.deployment_status else own end
    where u.key = of_key;
  else
    update deployments u set installation_status = write_execution_status.installation_status where u.key = of_key;
  end if;
end
$$;

-- The same for a deployment that nothing is above or below of, by its id and under its lock. False, and nothing done: it takes
-- more than this row, or somebody else has the lock, and waiting for it is nothing for the few connections that call this. `state_seq`: up to there states of the execution are repeats from now on; 0 = none.
create function note_execution(of_tenant text, of_id text, execution text, its_status text, its_workflow text, total integer,
  finished integer, has_ended boolean, resumed_at timestamptz, own_if_active text, own_if_inactive text, state_seq bigint)
returns boolean language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  d deployments;
begin
  select * into d from deployments where tenant = of_tenant and id = of_id for no key update skip locked;
  if not found then
    return not exists (select 1 from deployments where tenant = of_tenant and id = of_id);
  end if;
  if d.latest_execution >= execution and not has_ended and (d.latest_execution > execution or resumed_at is null) then
    return true;
  end if;
  if d.latest_execution > execution or exists (select 1 from deployment_parents where child_key = d.key)
    or exists (select 1 from deployment_parents where parent_key = d.key) then
    return false;
  end if;
  if state_seq > 0 then
    insert into settled_executions as s (execution_id, state_seq) values (execution, note_execution.state_seq)
    on conflict (execution_id) do update
    set state_seq = greatest(s.state_seq, excluded.state_seq), settled_at = excluded.settled_at;
  end if;
  perform write_execution_status(d.key, execution, its_status, its_workflow, total, finished, has_ended, resumed_at,
    own_if_active, own_if_inactive);
  return true;
end
$$;
