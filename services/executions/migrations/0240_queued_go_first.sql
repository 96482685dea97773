-- expand
-- As in 0200, and what waits in the queue of the tenant counts as at work: a start that came later would otherwise take the place
-- that has just become free, and what waits could wait for ever. Members of groups have a queue of their own.
create or replace function is_start_free(of_tenant text, of_deployment text, parallel text[], most bigint) returns boolean
language plpgsql set search_path from current set enable_seqscan = off as $$
begin
  if most is not null then
    perform pg_advisory_xact_lock(hashtextextended('executions of ' || of_tenant, 0));
    if most <= 0 or (select count(*) from (select 1 from executions e
        where e.tenant = of_tenant and e.phase <> 'ended'
          and (e.phase <> 'waiting' or e.status = 'queued' and e.execution_group_id is null)
          and e.parent_id is null and not e.is_system_workflow limit most) counted) >= most then
      return false;
    end if;
  end if;
  perform pg_advisory_xact_lock_shared(7236010);
  insert into deployment_guards (tenant, deployment_id) values (of_tenant, of_deployment)
    on conflict (tenant, deployment_id) do update set tenant = excluded.tenant;
  return not exists (select 1 from executions where tenant = of_tenant and deployment_id = of_deployment and phase <> 'ended')
    and not exists (select 1 from executions where tenant = of_tenant and deployment_id = of_deployment and has_left_runs)
    and not exists (select 1 from executions where phase <> 'ended' and deployment_id is null and is_system_workflow
      and workflow_id <> all(parallel));
end
$$;
