-- expand
-- Imported objects (docs/compatibility.md, "Imports"): what each record of an import was, so that a repeat of it is recognised.
create table import_records (
  type text collate "C" not null,
  tenant text collate "C" not null,
  id text collate "C" not null,
  -- SHA-256 of the record's content.
  digest bytea not null,
  import_id uuid not null,
  primary key (type, tenant, id)
);
-- Imported deployments that another manager may still drive: nothing starts on them until they are activated.
create table deployment_quarantines (
  deployment_key bigint primary key references deployments (key) on delete cascade,
  import_id uuid not null,
  -- Of the archive: cloudify 7.1.
  source text not null,
  since timestamptz not null default app_now()
);

-- Executions of another manager have random ids: each of them is before all of this one, whose ids are UUIDv7.
create function execution_order(id text) returns text language sql immutable parallel safe as $$
  select (case when id ~ '^[0-9a-f]{8}-[0-9a-f]{4}-[0-689a-f]' then '0' else '1' end || id) collate "C"
$$;

create or replace function is_news_of_latest(d deployments, execution text, has_ended boolean, resumed_at timestamptz, version bigint)
returns boolean language sql immutable set search_path from current as $$
  select case
    when d.latest_execution is null or execution_order(d.latest_execution) < execution_order(execution) then true
    when d.latest_execution <> execution then false
    when version = 0 then has_ended or coalesce(d.latest_at < resumed_at, false)
    when version = d.latest_version then has_ended
    else version > d.latest_version
  end
$$;

-- As in 0096, in that order.
create or replace function note_execution(of_tenant text, of_id text, execution text, its_status text, its_workflow text, total integer,
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
  if execution_order(d.latest_execution) > execution_order(execution) then
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

-- What takes the name of a deleted object is another one, whatever an import has brought before.
create function forget_import_records() returns trigger language plpgsql set search_path from current as $$
begin
  delete from import_records r using gone g where r.type = tg_argv[0] and r.tenant = g.tenant and r.id = g.id;
  return null;
end
$$;
create trigger deployments_forgotten after delete on deployments referencing old table as gone
  for each statement execute function forget_import_records('deployments');
create trigger deployment_groups_forgotten after delete on deployment_groups referencing old table as gone
  for each statement execute function forget_import_records('deployment_groups');
create trigger deployment_filters_forgotten after delete on deployment_filters referencing old table as gone
  for each statement execute function forget_import_records('deployments_filters');
