-- contract: the check of the phases is replaced by a wider one; indexes on a large table, before 1.0
-- Executions that a stage of another execution has started: it waits in phase `awaiting`, at work but without a place of
-- `max_concurrent_workflows`, until all of them have ended or its `wake_at` has come.
alter table executions add column parent_id uuid;
alter table execution_groups add column parent_id uuid;
alter table executions drop constraint executions_phase_check;
alter table executions add constraint executions_phase_check
  check (phase in ('waiting', 'planning', 'running', 'calling', 'awaiting', 'ending', 'ended')) not valid;
create index executions_of_parent on executions (parent_id) where parent_id is not null;
create index executions_awaiting on executions (created_at) where phase = 'awaiting';
