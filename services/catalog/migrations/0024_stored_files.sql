-- expand
-- Files that clients and operations write (reference/rest-api.md 5.30): working folders of deployments, user files of a
-- tenant, user files of everybody. Small files lie here, larger ones in the blob store.
create table file_folders (
  area text not null check (area in ('deployments', 'tenant-resources', 'global-resources')),
  -- Empty for global-resources, which belong to no tenant.
  tenant text not null,
  visibility text not null check (visibility in ('tenant', 'global')),
  -- Id of the deployment; empty in the other areas, which are one folder each.
  folder text not null,
  -- Another one after each change, never the same again: workers know by it whether their copy is current.
  version uuid not null,
  files integer not null default 0,
  bytes bigint not null default 0,
  created_at timestamptz not null default app_now(),
  primary key (area, tenant, folder),
  check ((area = 'global-resources') = (visibility = 'global')),
  check ((area = 'global-resources') = (tenant = ''))
);
create table stored_files (
  area text not null,
  tenant text not null,
  visibility text not null,
  folder text not null,
  path text not null,
  size bigint not null,
  mode integer not null,
  -- sha256 of the content.
  digest text not null,
  content bytea,
  blob_digest text,
  -- As the writer says it; kept to the microsecond, because clients compare it with the time of their own copy.
  modified_at timestamptz not null default app_now(),
  stored_at timestamptz not null default app_now(),
  primary key (area, tenant, folder, path),
  foreign key (area, tenant, folder) references file_folders (area, tenant, folder) on delete cascade,
  check ((content is null) <> (blob_digest is null))
);
create index stored_files_blob on stored_files (blob_digest) where blob_digest is not null;

-- However a row goes (with its folder, its tenant, in a restore), its blob is left to the sweep.
create function note_loose_blob() returns trigger language plpgsql set search_path from current as $$
begin
  insert into loose_blobs (digest) values (old.blob_digest) on conflict (digest) do update set since = excluded.since;
  return null;
end $$;
create trigger note_loose_blob after delete or update of blob_digest on stored_files
  for each row when (old.blob_digest is not null) execute function note_loose_blob();

-- icon.png of the zip that a plugin came in.
alter table plugins add column icon bytea;
