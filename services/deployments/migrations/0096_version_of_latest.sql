-- contract: the functions come again with one parameter more, whose default lets calls of the release before still fit
-- What a deployment shows of its latest execution goes by the version of the execution's row on which it was decided, which
-- only grows: an end that another one overtook on its way here is not taken, in whatever order they come. The functions of
-- 0020 with one parameter more, which a release before this one leaves away.

alter table deployments add column latest_version bigint not null default 0;

-- Whether this counts over what is shown: a later execution (ids are UUIDv7: a later one is greater), or the same one at a
-- version that is not older. At the same one an end counts over what a resume began with; repeats are the same. Version 0 is
-- from an older release: an end always counts, a resume when it was after what is shown.
create function is_news_of_latest(d deployments, execution text, has_ended boolean, resumed_at timestamptz, version bigint)
returns boolean language sql immutable as $$
  select case
    when d.latest_execution is null or d.latest_execution < execution then true
    when d.latest_execution > execution then false
    when version = 0 then has_ended or coalesce(d.latest_at < resumed_at, false)
    when version = d.latest_version then has_ended
    else version > d.latest_version
  end
$$;

drop function note_execution(text, text, text, text, text, integer, integer, boolean, timestamptz, text, text, bigint);
drop function write_execution_status(bigint, text, text, text, integer, integer, boolean, timestamptz, text, text);

-- Writes the latest execution and, when the execution ended, whether the deployment is installed: active when no node instance
-- is in a state other than started. The row is locked by the caller.
create function write_execution_status(of_key bigint, execution text, its_status text, its_workflow text, total integer,
  finished integer, has_ended boolean, resumed_at timestamptz, own_if_active text, own_if_inactive text, version bigint default 0,
  out latest_status text, out installation_status text, out is_latest boolean, out is_related boolean)
language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  d deployments;
  own text;
begin
  select * into d from deployments where key = of_key;
  is_latest := is_news_of_latest(d, execution, has_ended, resumed_at, version);
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
      latest_version = case when u.latest_execution = execution
        then greatest(u.latest_version, write_execution_status.version) else write_execution_status.version end,
      installation_status = write_execution_status.installation_status, own_status = own,
      deployment_status = case when is_related then u.deployment_status else own end
    where u.key = of_key;
  else
    update deployments u set installation_status = write_execution_status.installation_status where u.key = of_key;
  end if;
end
$$;

-- The same for a deployment that nothing is above or below of, by its id and under its lock. False, and nothing done: it takes
-- more than this row, or somebody else has the lock, and waiting for it is nothing for the few connections that call this.
-- What another status of the same execution overtook does nothing. `state_seq`: up to there states of the execution are
-- repeats from now on; 0 = none.
create function note_execution(of_tenant text, of_id text, execution text, its_status text, its_workflow text, total integer,
  finished integer, has_ended boolean, resumed_at timestamptz, own_if_active text, own_if_inactive text, state_seq bigint,
  version bigint default 0)
returns boolean language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  d deployments;
begin
  select * into d from deployments where tenant = of_tenant and id = of_id for no key update skip locked;
  if not found then
    return not exists (select 1 from deployments where tenant = of_tenant and id = of_id);
  end if;
  if d.latest_execution > execution then
    return not has_ended;
  end if;
  if not is_news_of_latest(d, execution, has_ended, resumed_at, version) then
    return true;
  end if;
  if exists (select 1 from deployment_parents where child_key = d.key)
    or exists (select 1 from deployment_parents where parent_key = d.key) then
    return false;
  end if;
  if state_seq > 0 then
    insert into settled_executions as s (execution_id, state_seq) values (execution, note_execution.state_seq)
    on conflict (execution_id) do update
    set state_seq = greatest(s.state_seq, excluded.state_seq), settled_at = excluded.settled_at;
  end if;
  perform write_execution_status(d.key, execution, its_status, its_workflow, total, finished, has_ended, resumed_at,
    own_if_active, own_if_inactive, version);
  return true;
end
$$;
