-- contract: indexes on a large table, before 1.0; writers wait while they are built
-- Operations that wait without a worker: what each waits for (Deferral of packages/task-graph), also while it looks. It waits
-- while it is `pending` with a `not_before`. Few tasks ever have one, so the indexes are small and no other write meets them.
alter table tasks add column deferral jsonb;
create index tasks_deferred_until on tasks ((deferral->>'untilExecution')) where deferral is not null;
create index tasks_deferred_of_graph on tasks (graph_id) where deferral is not null;
