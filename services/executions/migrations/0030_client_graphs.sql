-- expand
-- Tasks graphs that a workflow engine outside of this service keeps here through the API. They are its memory, not ours:
-- nothing runs them. Graphs of our own engine stand in tasks_graphs and cannot be changed through the API.
create table client_graphs (
  id uuid primary key,
  execution_id uuid not null references executions on delete cascade,
  name text not null,
  state text,
  created_at timestamptz not null default app_now(),
  unique (execution_id, name)
);

create table client_operations (
  tenant text not null,
  id text not null,
  graph_id uuid not null references client_graphs on delete cascade,
  execution_id uuid not null,
  name text not null,
  type text not null,
  state text not null,
  dependencies jsonb not null,
  parameters jsonb not null,
  manager_name text,
  agent_name text,
  -- Counted in the execution's finished_operations: only the first end counts.
  is_counted boolean not null default false,
  position bigint generated always as identity,
  created_at timestamptz not null default app_now(),
  primary key (tenant, id)
);
create index client_operations_of_graph on client_operations (graph_id, position);
create index client_operations_of_execution on client_operations (execution_id);
