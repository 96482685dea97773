/** The catalog's part of snapshots (packages/snapshot-part): its tables and the blobs that their rows refer to. */
import { commonlyCleared, commonlyKept, importsKept, type SnapshotTables } from '@baton/snapshot-part';

const NOT_FINISHED = 'The upload had not ended when the snapshot was made; upload the blueprint again';

const mark = (digests: string): string => `
  insert into loose_blobs (digest) select distinct d from (${digests}) b (d) where d is not null
  on conflict (digest) do update set since = excluded.since`;

/** Selects the digests of every blob that rows refer to. */
const BLOBS = `
  select blob_digest from archive_files where blob_digest is not null
  union select blob_digest from stored_files where blob_digest is not null
  union select archive_digest from blueprints where archive_digest is not null
  union select wagon_digest from plugins
  union select archive_digest from plugins where archive_digest is not null`;

export const snapshotTables: SnapshotTables = {
  kept: {
    ...commonlyKept,
    ...importsKept,
    loose_blobs: 'what this blob store holds beside the used files',
    cache_key: 'seals what this manager has in its cache',
  },
  cleared: { ...commonlyCleared, import_blobs: 'of imports that a restore ends' },
  contents: ['blueprints', 'plugins'],
  ownContents: { plugins: 'is_bundled' },
  blobs: [BLOBS],
  noteBlobs: async (client, digests) => {
    await client.query(mark('select unnest($1::text[])'), [digests]);
  },
  // The sweep checks them again: the blobs that the restored state uses stay.
  beforeSwitch: async (client) => {
    await client.query(mark(BLOBS));
  },
  afterLoad: async (client) => {
    await client.query(
      `update blueprints set state = 'failed_uploading', error = $1, lease_owner = null, lease_until = null,
         upload_ended_at = app_now()
       where state in ('pending', 'uploading', 'extracting', 'parsing')`,
      [NOT_FINISHED],
    );
  },
};
