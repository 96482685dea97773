-- expand
-- What each record of an import was, so that a repeat of it is recognised.
create table import_records (
  type text collate "C" not null,
  tenant text collate "C" not null,
  id text collate "C" not null,
  -- SHA-256 of the record's content.
  digest bytea not null,
  import_id uuid not null,
  primary key (type, tenant, id)
);
-- Imported schedules are disabled until their deployments are activated: whether each was enabled in the archive, and whether the
-- administrator wanted it to fire again then.
alter table execution_schedules
  add column was_enabled boolean,
  add column fires_when_activated boolean not null default false;
