-- expand
-- Totals of events without counting all of them. Old events are counted in the background, in chunks that follow each other
-- in time (count_events below, called each minute); what lies before the first chunk, behind the last one, or in one that
-- was reopened is counted when somebody asks. So totals are exact in every snapshot, and writers of new events do nothing
-- for them. Chunks also lead to a page: those before it are skipped by their counts.
create table event_chunks (
  from_at timestamptz primary key,
  -- Excluded; where the next chunk begins.
  to_at timestamptz not null check (to_at > from_at)
);
create index event_chunks_end on event_chunks (to_at);

-- Chunks in which something changed: their events are counted by whoever reads until they are counted again. Rows of their
-- own, so that those who change old events do not wait for each other.
create table event_chunks_reopened (
  from_at timestamptz not null
);
create index event_chunks_reopened_at on event_chunks_reopened (from_at);

-- Events of chunks, by what lists tell them apart by.
create table event_counts (
  from_at timestamptz not null references event_chunks on delete cascade,
  -- Not called as the tables of tenants call it: these rows are no things of a tenant that go with it, they follow the events.
  tenant_name text not null,
  visibility text not null,
  -- Only of private events, whose creator sees them; empty for all others.
  creator text not null,
  is_log boolean not null,
  event_type text,
  level text,
  total bigint not null
);
create index event_counts_of_chunk on event_counts (from_at);

-- When the counting looked last, and the transactions that were writing events then: once they have ended, everything that
-- was written before is there to be counted.
create table event_looks (
  seen_at timestamptz not null,
  writers text[] not null
);
create unique index event_looks_one on event_looks ((true));

-- Whoever changes old events holds event_chunks against the counting to the end of the transaction, and reopens their
-- chunk; so the counting runs before such a change, or sees it whole.
create function reopen_event_chunk() returns trigger language plpgsql security definer set search_path from current as $$
declare
  changed_at timestamptz := case when tg_op = 'INSERT' then new.created_at else old.created_at end;
  chunk event_chunks;
begin
  lock table event_chunks in row exclusive mode;
  select * into chunk from event_chunks where from_at <= changed_at order by from_at desc limit 1;
  if chunk.to_at > changed_at then
    insert into event_chunks_reopened (from_at)
      select chunk.from_at where not exists (select from event_chunks_reopened r where r.from_at = chunk.from_at);
  elsif chunk.from_at is null and not exists (select from event_chunks) then
    -- Nothing is counted before this transaction ends: no need to look for each of its rows.
    perform set_config('baton.no_event_chunks', 'yes', true);
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;

-- Events that come late: restored, or of a transaction that took its time before. Those of now are never in a chunk, which
-- ends half a minute before the last look but one.
create trigger events_late before insert on events for each row
  when (new.created_at < clock_timestamp() - interval '5 seconds'
    and current_setting('baton.no_event_chunks', true) is distinct from 'yes')
  execute function reopen_event_chunk();
create trigger events_gone before delete on events for each row
  when (current_setting('baton.no_event_chunks', true) is distinct from 'yes')
  execute function reopen_event_chunk();

-- Counts a reopened chunk, or goes on behind the last one, by at most about `chunk_rows` events (those of one instant stay
-- together). True: there is more to do at once. Costs two looks into indexes when nothing happened since.
create function count_events(chunk_rows integer) returns boolean language plpgsql set search_path from current as $$
declare
  now_at timestamptz := clock_timestamp();
  writing text[];
  look event_looks;
  reopened_at timestamptz;
  chunk event_chunks;
  closed_to timestamptz;
  upto timestamptz;
  cut timestamptz;
begin
  -- Events before chunks, as a restore locks them. Changes of old events that are under way: the next call.
  lock table events in access share mode;
  begin
    lock table event_chunks in share row exclusive mode nowait;
  exception when lock_not_available then
    return false;
  end;
  select * into look from event_looks;
  -- The clock was put back: events of now would lie in chunks.
  if look.seen_at > now_at then
    delete from event_chunks;
    delete from event_chunks_reopened;
    delete from event_looks;
    return true;
  end if;
  select from_at into reopened_at from event_chunks_reopened limit 1;
  if found then
    perform count_event_chunk(c) from event_chunks c where c.from_at = reopened_at;
    delete from event_chunks_reopened where from_at = reopened_at;
    return true;
  end if;
  select max(to_at) into closed_to from event_chunks;
  if closed_to is null then
    select min(created_at) into closed_to from events;
  end if;
  perform from events where created_at >= closed_to limit 1;
  if not found then
    return false;
  end if;
  -- After the time was taken: who writes events of an earlier time is seen here, or has committed.
  select coalesce(array_agg(l.virtualtransaction), '{}') into writing from pg_locks l
    where l.database = (select oid from pg_database where datname = current_database()) and l.mode = 'RowExclusiveLock'
      and l.relation in (select relid from pg_partition_tree('events'));
  if look.seen_at is null then
    insert into event_looks (seen_at, writers) values (now_at, writing);
    return false;
  end if;
  -- A minute between two looks: what a clock loses between them does not reach into chunks.
  if look.writers && writing or now_at < look.seen_at + interval '45 seconds' then
    return false;
  end if;
  upto := look.seen_at - interval '30 seconds';
  if closed_to < upto then
    -- The last chunk grows until it is full.
    select * into chunk from event_chunks where to_at = closed_to;
    if chunk.from_at is null or (select sum(total) from event_counts where from_at = chunk.from_at) >= chunk_rows then
      chunk := row(closed_to, null);
    end if;
    select created_at into cut from events where created_at >= closed_to and created_at < upto
      order by created_at, storage_id offset chunk_rows limit 1;
    if cut = closed_to then
      select min(created_at) into cut from events where created_at > closed_to and created_at < upto;
    end if;
    chunk.to_at := coalesce(cut, upto);
    insert into event_chunks (from_at, to_at) values (chunk.from_at, chunk.to_at)
      on conflict (from_at) do update set to_at = excluded.to_at;
    perform count_event_chunk(chunk);
    if cut is not null then
      return true;
    end if;
  end if;
  update event_looks set seen_at = now_at, writers = writing;
  return false;
end
$$;

create function count_event_chunk(chunk event_chunks) returns void language plpgsql set search_path from current as $$
begin
  delete from event_counts where from_at = chunk.from_at;
  insert into event_counts (from_at, tenant_name, visibility, creator, is_log, event_type, level, total)
    select chunk.from_at, tenant, visibility, case when visibility = 'private' then created_by else '' end, is_log, event_type, level, count(*)
    from events where created_at >= chunk.from_at and created_at < chunk.to_at group by 2, 3, 4, 5, 6, 7;
end
$$;
