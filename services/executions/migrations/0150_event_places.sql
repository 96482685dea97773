-- contract: counts of events go and are counted anew in the background
-- Lists of events by node instance or blueprint without reading all events: in which deployments the events of a value lie,
-- which the index of deployments finds. Written when a chunk is counted (0080), in the background, so that whoever writes
-- events does nothing for it; what is in no counted chunk is looked at by whoever asks. Pairs may outlive their events.
create table event_places (
  kind text collate "C" not null check (kind in ('node_instance_id', 'blueprint_id')),
  value text collate "C" not null,
  -- Empty: events of no deployment.
  deployment_id text collate "C" not null,
  -- Where the last chunk begins that had such an event.
  seen_at timestamptz not null,
  primary key (kind, value, deployment_id)
);
create index event_places_age on event_places (seen_at);

-- The counts of a chunk (0080) by the names of nodes, as those by texts (0120): no rows where a chunk has too many.
create table event_nodes (
  from_at timestamptz not null references event_chunks on delete cascade,
  tenant_name text not null,
  visibility text not null,
  creator text not null,
  is_log boolean not null,
  event_type text,
  level text,
  node_name text,
  total bigint not null
);
create index event_nodes_of_chunk on event_nodes (from_at);

create or replace function count_event_chunk(chunk event_chunks) returns void language plpgsql set search_path from current as $$
declare
  -- A quarter of a full chunk: of messages, or of names of nodes.
  most_messages constant integer := 5000;
begin
  delete from event_counts where from_at = chunk.from_at;
  delete from event_messages where from_at = chunk.from_at;
  delete from event_nodes where from_at = chunk.from_at;
  with counted as materialized (
    select tenant, visibility, case when visibility = 'private' then created_by else '' end as creator, is_log, event_type, level,
      operation, message, count(*) as total, min(reported_at) as reported_from, max(reported_at) as reported_to
    from events where created_at >= chunk.from_at and created_at < chunk.to_at group by 1, 2, 3, 4, 5, 6, 7, 8
  ), bounded as (
    update event_chunks set reported_from = (select min(c.reported_from) from counted c),
      reported_to = (select max(c.reported_to) from counted c)
    where from_at = chunk.from_at
  ), texts as (
    insert into event_messages (from_at, tenant_name, visibility, creator, is_log, event_type, level, operation, message, total)
      select chunk.from_at, tenant, visibility, creator, is_log, event_type, level, operation, message, total
      from counted where (select count(*) from counted) <= most_messages
  )
  insert into event_counts (from_at, tenant_name, visibility, creator, is_log, event_type, level, total)
    select chunk.from_at, tenant, visibility, creator, is_log, event_type, level, sum(total) from counted group by 2, 3, 4, 5, 6, 7;
  with counted as materialized (
    select tenant, visibility, case when visibility = 'private' then created_by else '' end as creator, is_log, event_type, level,
      node_name, count(*) as total
    from events where created_at >= chunk.from_at and created_at < chunk.to_at group by 1, 2, 3, 4, 5, 6, 7
  )
  insert into event_nodes (from_at, tenant_name, visibility, creator, is_log, event_type, level, node_name, total)
    select chunk.from_at, tenant, visibility, creator, is_log, event_type, level, node_name, total
    from counted where (select count(*) from counted) <= most_messages;
  insert into event_places as p (kind, value, deployment_id, seen_at)
    select k.kind, k.value, coalesce(e.deployment_id, ''), chunk.from_at
    from (select distinct node_instance_id, blueprint_id, deployment_id from events
      where created_at >= chunk.from_at and created_at < chunk.to_at) e
    cross join lateral (values ('node_instance_id', e.node_instance_id), ('blueprint_id', e.blueprint_id)) k (kind, value)
    where k.value is not null group by 1, 2, 3 order by 1, 2, 3
    on conflict (kind, value, deployment_id) do update set seen_at = excluded.seen_at where p.seen_at < excluded.seen_at;
end
$$;

-- All are counted again, in the background.
delete from event_chunks;
