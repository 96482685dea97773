-- contract: a function of the same name and form takes the place of the renamed one; counts are counted anew
-- The counts of a chunk (0080) by the values that lists of all events are sorted by: a page is found among the values, and then
-- in the chunks that have them, instead of by sorting everything. One row for each value of a field in a chunk; no rows of a
-- field of which a chunk has too many values. Written with the chunk, in the background: whoever writes events does nothing for it.
create table event_values (
  from_at timestamptz not null references event_chunks on delete cascade,
  -- A column of events.
  field text collate "C" not null,
  tenant_name text not null,
  visibility text not null,
  creator text not null,
  -- Null: events that have none.
  value text,
  total bigint not null
);
create index event_values_of_chunk on event_values (from_at, field);
create index event_values_by_value on event_values (field, value);

alter function count_event_chunk(event_chunks) rename to count_event_texts;
create function count_event_chunk(chunk event_chunks) returns void language plpgsql set search_path from current as $$
declare
  -- A quarter of a full chunk.
  most_values constant integer := 5000;
begin
  perform count_event_texts(chunk);
  delete from event_values where from_at = chunk.from_at;
  insert into event_values (from_at, field, tenant_name, visibility, creator, value, total)
    select chunk.from_at, c.field, c.tenant, c.visibility, c.creator, c.value, c.total from (
      select f.field, e.tenant, e.visibility, case when e.visibility = 'private' then e.created_by else '' end as creator, f.value,
        count(*) as total, count(*) over (partition by f.field) as different
      from events e cross join lateral (values ('blueprint_id', e.blueprint_id), ('deployment_display_name', e.deployment_display_name),
        ('execution_group_id', e.execution_group_id), ('logger', e.logger), ('node_instance_id', e.node_instance_id),
        ('worker', e.worker), ('workflow_id', e.workflow_id)) f (field, value)
      where e.created_at >= chunk.from_at and e.created_at < chunk.to_at group by 1, 2, 3, 4, 5
    ) c where c.different <= most_values;
end
$$;

-- All are counted again, in the background.
delete from event_chunks;
