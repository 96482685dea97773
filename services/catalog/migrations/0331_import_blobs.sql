-- expand
-- Contents that staged records name: the sweep spares them until the import is discarded (src/imports).
create table import_blobs (
  import_id uuid not null,
  digest text not null,
  primary key (import_id, digest)
);
create index import_blobs_digest on import_blobs (digest);
