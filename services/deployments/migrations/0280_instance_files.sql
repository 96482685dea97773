-- expand
-- Files of node instances (docs/adr/0044-files-of-an-instance.md): what a later operation on another worker needs, and what is too
-- large or too private for runtime properties. The content is in the blob store, under a name that no other row ever gets.
create table node_instance_files (
  tenant text collate "C" not null,
  instance_id text collate "C" not null,
  name text collate "C" not null check (name ~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$'),
  -- Of the content, without what the blob has before it.
  size bigint not null,
  sha256 text not null,
  blob_digest text not null,
  updated_at timestamptz not null default app_now(),
  primary key (instance_id, tenant, name),
  foreign key (instance_id, tenant) references node_instances (id, tenant) on delete cascade
);
create index node_instance_files_of_tenant on node_instance_files (tenant) include (size);
create index node_instance_files_blob on node_instance_files (blob_digest);

-- Locks of such files; a file need not exist. A lock whose time is over belongs to nobody.
create table node_instance_file_locks (
  tenant text collate "C" not null,
  instance_id text collate "C" not null,
  name text collate "C" not null check (name ~ '^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$'),
  lock_id text not null,
  -- For people: who has it, and for what.
  holder text not null,
  taken_at timestamptz not null default app_now(),
  expires_at timestamptz not null,
  primary key (instance_id, tenant, name),
  foreign key (instance_id, tenant) references node_instances (id, tenant) on delete cascade
);

-- Blobs that may belong to nobody: put but not yet referenced, or no longer. The sweep looks again before it deletes.
create table loose_blobs (digest text primary key, since timestamptz not null default app_now());

-- However a row goes (with its instance, its tenant, in a restore), its blob is left to the sweep.
create function note_loose_blob() returns trigger language plpgsql set search_path from current as $$
begin
  insert into loose_blobs (digest) values (old.blob_digest) on conflict (digest) do update set since = excluded.since;
  return null;
end $$;
create trigger note_loose_blob after delete or update of blob_digest on node_instance_files
  for each row execute function note_loose_blob();
