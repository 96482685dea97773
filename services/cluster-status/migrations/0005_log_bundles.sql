-- expand
-- Log bundles (reference/rest-api.md 5.13): archives of what happened on the manager. Each row is work for the loop
-- drive-log-bundles of any replica, under a lease, until its end is reported to its execution.
create table log_bundles (
  tenant text not null,
  id text not null,
  status text not null check (status in ('creating', 'created', 'failed')),
  error text not null default '',
  created_by text not null,
  created_at timestamptz not null default app_now(),
  -- Request id of the execution.
  job_id uuid not null unique,
  execution_id uuid,
  archive_digest text,
  archive_size bigint,
  -- terminated, failed or cancelled: what its execution is told.
  outcome text check (outcome in ('terminated', 'failed', 'cancelled')),
  is_reported boolean not null default false,
  attempts integer not null default 0,
  lease_owner text,
  lease_until timestamptz,
  primary key (tenant, id),
  check ((archive_digest is null) = (archive_size is null)),
  check ((status = 'created') = (archive_digest is not null)),
  check ((status = 'creating') = (outcome is null))
);
create index log_bundles_archive on log_bundles (archive_digest) where archive_digest is not null;
create index log_bundles_open on log_bundles (created_at) where not is_reported;
