-- expand
-- Imports of archives of other managers (docs/adr/0048-import-of-estates.md): one row per archive, driven under a lease by the loop
-- drive-imports of any replica.
create table imports (
  id uuid primary key,
  -- States of domain/import.machine.ts.
  state text not null check (state in ('uploaded', 'waiting', 'checking', 'checked', 'preparing', 'applying', 'applied', 'refused',
    'failed', 'deleting')),
  created_by text not null,
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  archive_digest text not null,
  archive_size bigint not null,
  -- False: it was deleted after the import.
  has_archive boolean not null default true,
  keep_archive boolean not null default false,
  options jsonb not null,
  -- Keys that open the archive, sealed by the secrets service.
  sealed bytea,
  -- Under which the services keep what this check or apply stages; new for each.
  run_id uuid not null,
  -- Of the rehearsal of apply: what each service must meet, {service: met digest}.
  plan jsonb,
  format text,
  source text not null default '',
  -- Tenants here that got records.
  tenants jsonb not null default '[]',
  step text not null default '',
  error text not null default '',
  counts jsonb not null default '[]',
  report_digest text,
  verdict text check (verdict in ('clean', 'losses', 'refused')),
  deployments_with_agents integer,
  attempts integer not null default 0,
  lease_owner text,
  lease_until timestamptz,
  check (state <> 'applying' or plan is not null)
);
create index imports_open on imports (created_at) where state in ('waiting', 'checking', 'preparing', 'applying', 'deleting');
create index imports_archive on imports (archive_digest) where has_archive;

-- Lines of the report of an import, JSON.
create table import_report (
  import_id uuid not null references imports on delete cascade,
  seq integer not null,
  kind text not null,
  line text not null,
  primary key (import_id, seq)
);
create index import_report_kinds on import_report (import_id, kind, seq);
