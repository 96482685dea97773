-- contract: an index on a large table, before 1.0; writers wait while it is built
-- Members of an execution group that are to be resumed when their group has room: ended executions with the action that was
-- asked for. It goes when the execution is resumed, by whomever, or its group is cancelled.
alter table executions add column resume_wish text;
alter table executions add constraint executions_resume_wish check (resume_wish in ('resume', 'force-resume')) not valid;
create index executions_group_wishes on executions (tenant, execution_group_id, created_at, id) where resume_wish is not null;
