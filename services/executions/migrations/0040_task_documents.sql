-- contract: the release before reads tasks by their graph, which has an index
-- A new graph keeps its tasks in one compressed document. A task gets a row of its own when something happens to it that
-- a mark cannot say (its dispatch, a failure, a retry); local tasks that just start or succeed are marked, one row a step.
-- Writing a row for each of a thousand nodes' sixteen thousand tasks was half of what an install cost the database.
-- A replica of the release before refuses a graph of this kind (its tasks are missing): the call is repeated at another.
alter table tasks_graphs add column tasks bytea;
alter table tasks_graphs alter column tasks set storage external;
create table task_marks (
  graph_id uuid not null references tasks_graphs on delete cascade,
  -- Of the execution, after the step: the later mark of a task counts.
  version bigint not null,
  -- {started: idxs, succeeded: idxs}
  marks jsonb not null,
  primary key (graph_id, version)
);
-- Tasks are found by their graph.
drop index tasks_of_execution;
