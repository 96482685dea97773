-- expand
-- The execution that made the deployment tells it from an earlier or later one of its id: what belongs to one that is gone goes,
-- however late that is heard. Null: of an older release, or of no deployment.
alter table executions add column deployment_made_by text;
alter table execution_schedules add column deployment_made_by text;

-- As in 0085, with the new column; release N-1 gives none.
create or replace function accept_execution(given jsonb, messages jsonb, parallel text[]) returns setof executions
language plpgsql set search_path from current set enable_seqscan = off as $$
declare
  r executions := jsonb_populate_record(null::executions, given);
  accepted executions;
begin
  perform pg_advisory_xact_lock_shared(7236010);
  insert into deployment_guards (tenant, deployment_id) values (r.tenant, r.deployment_id)
    on conflict (tenant, deployment_id) do update set tenant = excluded.tenant;
  if exists (select 1 from executions where tenant = r.tenant and deployment_id = r.deployment_id and phase <> 'ended')
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
