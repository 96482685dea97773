-- contract: counts of events go and are counted anew in the background
-- Lists by message or operation without reading all events: the counts of a chunk (0080), also by these texts. What the
-- manager writes repeats itself: 20,000 events have a few hundred messages. A chunk whose texts hardly repeat, as those of
-- chatty plugins, has no rows here, and is read by whoever looks for a text.
create table event_messages (
  from_at timestamptz not null references event_chunks on delete cascade,
  tenant_name text not null,
  visibility text not null,
  creator text not null,
  is_log boolean not null,
  event_type text,
  level text,
  operation text,
  message text not null,
  total bigint not null
);
create index event_messages_of_chunk on event_messages (from_at);

create or replace function count_event_chunk(chunk event_chunks) returns void language plpgsql set search_path from current as $$
declare
  -- A quarter of a full chunk.
  most_messages constant integer := 5000;
begin
  delete from event_counts where from_at = chunk.from_at;
  delete from event_messages where from_at = chunk.from_at;
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
end
$$;

-- All are counted again, in the background.
delete from event_chunks;
