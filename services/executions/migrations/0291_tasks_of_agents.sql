-- expand, without transaction
-- The open operations of one agent, the oldest first. Nearly empty: most operations have no agent, and most have ended.
create index concurrently tasks_of_agents on tasks (agent, dispatched_at)
  where agent is not null and state in ('sent', 'started');
