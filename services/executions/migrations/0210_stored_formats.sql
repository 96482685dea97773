-- expand
-- The numbers of what later releases read (docs/adr/0027-formats-carry-numbers.md): a replica refuses an execution or a graph
-- whose number it does not know, instead of misreading it, and a replica of the later release goes on with it.

-- Of stage, history and outcome. Null: 1, because accept_execution makes rows from JSON, without
-- defaults, and the release before calls it.
alter table executions add column format smallint;
-- Of flags, document, marks and task rows.
alter table tasks_graphs add column format smallint not null default 1;
