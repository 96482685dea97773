/** The tables of deployments in snapshots (packages/snapshot-part). */
import { commonlyCleared, commonlyKept, type SnapshotTables } from '@baton/snapshot-part';

const BLOBS = 'select blob_digest from node_instance_files';

const mark = (digests: string): string => `
  insert into loose_blobs (digest) select distinct d from (${digests}) b (d)
  on conflict (digest) do update set since = excluded.since`;

export const snapshotTables: SnapshotTables = {
  kept: { ...commonlyKept, loose_blobs: 'what this blob store holds beside the used files' },
  cleared: {
    ...commonlyCleared,
    row_counts: 'counted anew by triggers while the rows are loaded',
    deployment_texts: 'written anew by triggers while the rows are loaded',
    deployment_group_requests: 'idempotency keys of requests, which are not repeated after a restore',
    node_instance_file_locks: 'held by executions, which end with a restore',
    drift_changes: 'told to webhooks before the restore, or not at all',
    settled_executions: 'guards against deliveries under way, of which there are none after a restore',
    model_calls: 'answers kept for running executions, which end with a restore',
  },
  contents: ['deployments'],
  blobs: [BLOBS],
  noteBlobs: async (client, digests) => {
    await client.query(mark('select unnest($1::text[])'), [digests]);
  },
  // The sweep checks them again: the blobs that the restored state uses stay.
  beforeSwitch: async (client) => {
    await client.query(mark(BLOBS));
  },
};
