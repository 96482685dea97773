-- expand
-- This service's part of an import (packages/import-part): records wait here, as lines of JSON, until they are applied.
create table import_staging (
  import_id uuid not null,
  type text not null,
  tenant text collate "C" not null,
  batch integer not null,
  records text not null,
  primary key (import_id, type, tenant, batch)
);
-- What became of records that were not plainly imported, for the report.
create table import_fates (
  seq bigint generated always as identity primary key,
  import_id uuid not null,
  line text not null
);
create index import_fates_of_import on import_fates (import_id, seq);
-- Imports that took effect here: a repeat answers the first outcome.
create table import_marks (
  import_id uuid primary key,
  outcome jsonb,
  applied_at timestamptz
);
