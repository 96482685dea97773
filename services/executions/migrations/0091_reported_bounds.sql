-- contract: counts of events go and are counted anew in the background
-- Lists by reported_timestamp: between which times the events of a chunk were reported, so that only chunks that can hold
-- rows of the page are read. All are counted again, in the background.
delete from event_chunks;
alter table event_chunks add column reported_from timestamptz, add column reported_to timestamptz;

create or replace function count_event_chunk(chunk event_chunks) returns void language plpgsql set search_path from current as $$
begin
  delete from event_counts where from_at = chunk.from_at;
  with counted as materialized (
    select tenant, visibility, case when visibility = 'private' then created_by else '' end as creator, is_log, event_type, level,
      count(*) as total, min(reported_at) as reported_from, max(reported_at) as reported_to
    from events where created_at >= chunk.from_at and created_at < chunk.to_at group by 1, 2, 3, 4, 5, 6
  ), bounded as (
    update event_chunks set reported_from = (select min(c.reported_from) from counted c),
      reported_to = (select max(c.reported_to) from counted c)
    where from_at = chunk.from_at
  )
  insert into event_counts (from_at, tenant_name, visibility, creator, is_log, event_type, level, total)
    select chunk.from_at, tenant, visibility, creator, is_log, event_type, level, total from counted;
end
$$;
