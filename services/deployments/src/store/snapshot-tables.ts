/** The tables of deployments in snapshots (packages/snapshot-part). */
import { commonlyCleared, commonlyKept, importsKept, type SnapshotTables } from '@baton/snapshot-part';

const BLOBS = 'select blob_digest from node_instance_files';

const mark = (digests: string): string => `
  insert into loose_blobs (digest) select distinct d from (${digests}) b (d)
  on conflict (digest) do update set since = excluded.since`;

export const snapshotTables: SnapshotTables = {
  kept: {
    ...commonlyKept,
    ...importsKept,
    loose_blobs: 'what this blob store holds beside the used files',
    agent_packages: 'what the gateways of this manager serve',
  },
  cleared: {
    ...commonlyCleared,
    row_counts: 'counted anew by triggers while the rows are loaded',
    deployment_texts: 'written anew by triggers while the rows are loaded',
    deployment_group_requests: 'idempotency keys of requests, which are not repeated after a restore',
    node_instance_file_locks: 'held by executions, which end with a restore',
    drift_changes: 'told to webhooks before the restore, or not at all',
    settled_executions: 'guards against deliveries under way, of which there are none after a restore',
    agent_enrolments: 'tokens and links of an hour, which a restore ends',
    agent_upgrades: 'upgrades under way, which end with a restore',
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
  // Agents keep their certificates, because the authority is in the snapshot. Until they are connected nobody knows whether they can
  // be reached from here. Streams of before are stale.
  afterLoad: async (client) => {
    await client.query(`update agents set gateway_id = null, process_id = null, former_process = null, epoch = epoch + 1000000,
      wanted_version = null, upgrade_state = null, upgrade_since = null, upgrade_told_at = null,
      state = case when certificate_serial is not null and state in ('started', 'nonresponsive', 'upgrading') then 'restored'
        else state end`);
  },
};
