-- expand
create table outbox (id uuid primary key, envelope jsonb not null, created_at timestamptz not null default app_now());
create table inbox (consumer text not null, message_id uuid not null, received_at timestamptz not null default app_now(), primary key (consumer, message_id));

-- What an archive holds, once however many blueprints use it. Small files lie here, larger ones in the blob store.
create table archives (
  digest text primary key,
  size bigint not null,
  kind text not null check (kind in ('zip', 'tar', 'tar.gz', 'tar.bz2')),
  top_folder text not null,
  unpacked_at timestamptz not null default app_now()
);
create table archive_files (
  archive_digest text not null references archives (digest) on delete cascade,
  path text not null,
  size bigint not null,
  mode integer not null,
  content bytea,
  blob_digest text,
  primary key (archive_digest, path),
  check ((content is null) <> (blob_digest is null))
);
create index archive_files_blob on archive_files (blob_digest) where blob_digest is not null;

create table blueprints (
  tenant text not null,
  id text not null,
  -- Names this upload: a later blueprint of the same id has another one. Fences the background work.
  upload_id uuid not null unique,
  created_by text not null,
  creator_id integer not null,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  state text not null check (state in ('pending', 'uploading', 'extracting', 'parsing', 'uploaded',
    'failed_uploading', 'failed_extracting', 'failed_parsing', 'failed_extracting_to_file_server', 'invalid')),
  error text,
  error_traceback text,
  diagnostics json,
  main_file_name text not null default '',
  description text,
  is_hidden boolean not null default false,
  -- json, not jsonb: the order of keys is the author's.
  plan json,
  requirements json,
  -- sha256 over archive and plan: (id, digest) names the plan forever.
  digest text,
  archive_digest text,
  archive_size bigint,
  archive_url text,
  -- Labels that the upload asked for; null: those of the plan's blueprint_labels.
  requested_labels json,
  icon bytea,
  upload_execution_id uuid not null,
  upload_ended_at timestamptz,
  lease_owner text,
  lease_until timestamptz,
  attempts integer not null default 0,
  primary key (tenant, id)
);
create index blueprints_created on blueprints (tenant, created_at, id);
create index blueprints_global on blueprints (id) where visibility = 'global';
create index blueprints_unfinished on blueprints (lease_until nulls first) where state in ('pending', 'uploading', 'extracting', 'parsing');
create index blueprints_archive on blueprints (archive_digest);

create table blueprint_labels (
  tenant text not null,
  blueprint_id text not null,
  key text not null,
  value text not null,
  created_at timestamptz not null default app_now(),
  creator_id integer not null,
  created_by text not null,
  primary key (tenant, blueprint_id, key, value),
  foreign key (tenant, blueprint_id) references blueprints (tenant, id) on delete cascade
);
create index blueprint_labels_key on blueprint_labels (tenant, key, value);

-- What the plan uses: blocks the deletion of plugins and of imported blueprints.
create table blueprint_uses (
  tenant text not null,
  blueprint_id text not null,
  kind text not null check (kind in ('plugin', 'blueprint')),
  -- Plugin: package name and version. Blueprint: its id and ''.
  name text not null,
  version text not null,
  primary key (tenant, blueprint_id, kind, name, version),
  foreign key (tenant, blueprint_id) references blueprints (tenant, id) on delete cascade
);
create index blueprint_uses_used on blueprint_uses (kind, name, version);

create table blueprint_filters (
  tenant text not null,
  id text not null,
  value json not null,
  created_by text not null,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  created_at timestamptz not null default app_now(),
  updated_at timestamptz not null default app_now(),
  is_system_filter boolean not null default false,
  primary key (tenant, id)
);

create table plugins (
  id uuid primary key,
  tenant text not null,
  created_by text not null,
  visibility text not null check (visibility in ('private', 'tenant', 'global')),
  uploaded_at timestamptz not null default app_now(),
  title text,
  package_name text not null,
  package_version text,
  package_source text,
  archive_name text not null,
  supported_platform text,
  supported_py_versions json,
  distribution text,
  distribution_version text,
  distribution_release text,
  wheels json,
  excluded_wheels json,
  blueprint_labels json,
  labels json,
  resource_tags json,
  wagon_digest text not null,
  wagon_size bigint not null,
  -- The zip as it was uploaded; null when a bare wagon came.
  archive_digest text,
  archive_size bigint,
  constraint plugins_archive unique (tenant, package_name, archive_name)
);
create index plugins_package on plugins (package_name);

create table plugin_yamls (
  plugin_id uuid not null references plugins (id) on delete cascade,
  file_name text not null,
  content text not null,
  primary key (plugin_id, file_name)
);

-- What POST /plugins/{id} asked for: installed ahead of the first use.
create table plugin_installations (
  plugin_id uuid not null references plugins (id) on delete cascade,
  target_kind text not null check (target_kind in ('manager', 'agent')),
  target text not null,
  state text not null check (state in ('pending-install', 'installing', 'installed', 'error',
    'pending-uninstall', 'uninstalling', 'uninstalled')),
  error text,
  primary key (plugin_id, target_kind, target)
);

-- Blobs that may belong to nobody: put but not yet referenced, or no longer. The sweep looks again before it deletes.
create table loose_blobs (digest text primary key, since timestamptz not null default app_now());
