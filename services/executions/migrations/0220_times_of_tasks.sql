-- expand
-- When tasks began and ended, for charts of an execution. Null: it did not, or a replica of the release before wrote that.
-- `started_at`: the present attempt began at its worker, or a local task began; an operation that only looks again for what it
-- waits for keeps its first time. `ended_at`: in the state `succeeded`, `failed`, `rescheduled` or `response-sent`.
alter table tasks add column started_at timestamptz;
alter table tasks add column ended_at timestamptz;
alter table tasks alter started_at set statistics 0, alter ended_at set statistics 0;
-- The time of the step, which tasks without rows have from their marks. Two statements: a default of the first one would be the
-- time of all marks that are there.
alter table task_marks add column created_at timestamptz;
alter table task_marks alter column created_at set default app_now(), alter created_at set statistics 0;
