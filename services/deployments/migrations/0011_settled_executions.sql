-- expand
-- How far the states of ended executions were applied. A delivery that was delayed past the end must not undo what a later
-- execution did; a resumed execution counts on from here. Forgotten after a day: no delivery lives that long.
create table settled_executions (
  execution_id text primary key,
  state_seq bigint not null,
  settled_at timestamptz not null default app_now()
);
create index settled_executions_age on settled_executions (settled_at);
