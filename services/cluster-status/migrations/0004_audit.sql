-- expand
-- Who changed what. `chain` = sha256 over the chain of the row before and this row: a row that is changed, added or taken
-- out in the middle breaks it. Truncation takes rows off the old end; `previous` of the oldest one left still fits.
create table audit_log (
  id bigint generated always as identity primary key,
  -- Of the message that told it: told twice, stored once.
  message_id uuid not null unique,
  ref_table text not null,
  ref_id text not null,
  ref_identifier jsonb not null,
  operation text not null check (operation in ('create', 'update', 'delete')),
  creator_name text not null,
  execution_id text,
  request_id text not null,
  created_at timestamptz not null,
  previous text not null,
  chain text not null
);
create index audit_log_created on audit_log (created_at, id);
create index audit_log_creator on audit_log (creator_name, created_at);
create index audit_log_execution on audit_log (execution_id) where execution_id is not null;
