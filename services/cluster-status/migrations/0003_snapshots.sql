-- expand
-- Snapshots of the whole manager (docs/adr/0012-snapshots.md).

create table snapshots (
  tenant text not null,
  id text not null,
  status text not null check (status in ('creating', 'created', 'failed', 'uploaded')),
  error text not null default '',
  created_by text not null,
  created_at timestamptz not null default app_now(),
  archive_digest text,
  archive_size bigint,
  primary key (tenant, id),
  check ((archive_digest is null) = (archive_size is null)),
  check (status not in ('created', 'uploaded') or archive_digest is not null)
);
create index snapshots_archive on snapshots (archive_digest) where archive_digest is not null;

-- Work on snapshots: one row per execution of create_snapshot or restore_snapshot, driven under a lease by the loop
-- drive-snapshots of any replica. `id` is also the request id of the execution and the restore id of the services.
create table snapshot_jobs (
  id uuid primary key,
  kind text not null check (kind in ('create', 'restore')),
  tenant text not null,
  snapshot_id text not null,
  execution_id uuid,
  created_by text not null,
  created_at timestamptz not null default app_now(),
  -- create: include_events, include_logs, include_credentials; restore: force, dry_run, timeout.
  options jsonb not null,
  -- waiting: its execution has not started. preparing: may be begun again from the start at any time. switching: the
  -- services take the new state over, one after the other, whatever happens. cleaning: the outcome is decided.
  state text not null default 'waiting' check (state in ('waiting', 'preparing', 'switching', 'cleaning', 'ended')),
  -- {status, error}; set when the job is decided.
  outcome jsonb,
  -- What the services are to switch to: {service: RestoreRequest}, written with the step to switching.
  plan jsonb,
  -- Of the archive that is being stored, so that a crash leaves no blob that nobody knows.
  archive_digest text,
  attempts integer not null default 0,
  lease_owner text,
  lease_until timestamptz,
  check ((state in ('cleaning', 'ended')) = (outcome is not null)),
  check (state <> 'switching' or plan is not null)
);
create index snapshot_jobs_open on snapshot_jobs (created_at) where state <> 'ended';
create index snapshot_jobs_of on snapshot_jobs (tenant, snapshot_id);

-- Archives that may belong to no snapshot any more; looked at again before they are deleted.
create table loose_archives (digest text primary key, since timestamptz not null default app_now());

create table snapshot_staging (
  restore_id uuid not null,
  table_name text not null,
  batch integer not null,
  rows text not null,
  primary key (restore_id, table_name, batch)
);
create table snapshot_switches (
  restore_id uuid primary key,
  switched_at timestamptz not null default app_now()
);
