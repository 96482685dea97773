/** The tables of cluster-status in a snapshot (packages/snapshot-part): settings, without hosts and license. */
import { commonlyCleared, commonlyKept, type SnapshotTables } from '@baton/snapshot-part';

export const snapshotTables: SnapshotTables = {
  kept: {
    ...commonlyKept,
    managers: 'hosts of this manager',
    instances: 'processes of this manager',
    maintenance: 'the mode that this manager is in',
    license: 'belongs to the installation; a snapshot never holds it',
    snapshots: 'a snapshot does not hold the snapshots',
    imports: 'work on imports into this manager',
    import_report: 'reports of imports into this manager',
    log_bundles: 'what happened on this manager',
    snapshot_jobs: 'work on snapshots, this restore included',
    audit_log: 'who changed what here, restores included',
    loose_archives: 'what this blob store holds beside the used archives',
  },
  cleared: {
    ...commonlyCleared,
    webhook_hosts: 'hosts that do not answer now',
    webhook_deliveries: 'told what happened on the manager before the restore',
    trigger_calls: 'requests of the last minutes',
  },
  contents: [],
};
