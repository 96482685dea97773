-- contract: an index on a large table, before 1.0; writers wait while it is built
-- Executions of a tenant that wait: its quota counts them.
create index executions_waiting_of_tenant on executions (tenant) where phase = 'waiting';

-- As in 0180; `given` may hold `max_running`, of a tenant with a quota of executions at work: where that is reached nothing is
-- written, and the service queues it. The lock of the quota comes before all others, as in store/quotas.sql.ts.
create or replace function accept_execution(given jsonb, messages jsonb, parallel text[]) returns setof executions
language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  r executions := jsonb_populate_record(null::executions, given);
  accepted executions;
  most bigint := (given->>'max_running')::bigint;
begin
  if most is not null then
    perform pg_advisory_xact_lock(hashtextextended('executions of ' || r.tenant, 0));
    if (select count(*) from (select 1 from executions e
        where e.tenant = r.tenant and e.phase <> 'ended' and e.phase <> 'waiting' and e.parent_id is null
          and not e.is_system_workflow limit most) counted) >= most then
      return;
    end if;
  end if;
  perform pg_advisory_xact_lock_shared(7236010);
  insert into deployment_guards (tenant, deployment_id) values (r.tenant, r.deployment_id)
    on conflict (tenant, deployment_id) do update set tenant = excluded.tenant;
  if exists (select 1 from executions where tenant = r.tenant and deployment_id = r.deployment_id and phase <> 'ended')
    or exists (select 1 from executions where tenant = r.tenant and deployment_id = r.deployment_id and has_left_runs)
    or exists (select 1 from executions where phase <> 'ended' and deployment_id is null and is_system_workflow
      and workflow_id <> all(parallel)) then
    return;
  end if;
  insert into executions (id, tenant, request_id, payload_hash, workflow_id, program, deployment_id,
    deployment_display_name, deployment_made_by, blueprint_id, visibility, created_by, status, phase, parameters,
    is_system_workflow, is_dry_run, is_forced, allow_custom_parameters, wait_after_fail_s, token_hash)
  values (r.id, r.tenant, r.request_id, r.payload_hash, r.workflow_id, r.program, r.deployment_id,
    r.deployment_display_name, r.deployment_made_by, r.blueprint_id, r.visibility, r.created_by, r.status, r.phase,
    r.parameters, r.is_system_workflow, r.is_dry_run, r.is_forced, r.allow_custom_parameters, r.wait_after_fail_s,
    r.token_hash)
  returning * into accepted;
  insert into outbox (id, envelope)
  select (m->>'id')::uuid,
    m || jsonb_build_object('time', to_char(accepted.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
  from jsonb_array_elements(messages) m;
  return next accepted;
end
$$;
