/** The part of snapshots that cluster-status has itself (packages/snapshot-part): settings, not hosts or the license. */
import { commonlyCleared, commonlyKept, type SnapshotTables } from '@baton/snapshot-part';

export const snapshotTables: SnapshotTables = {
  kept: {
    ...commonlyKept,
    managers: 'hosts of this manager',
    instances: 'processes of this manager',
    maintenance: 'the mode that this manager is in',
    license: 'belongs to the installation; a snapshot never holds it',
    snapshots: 'a snapshot does not hold the snapshots',
    log_bundles: 'what happened on this manager',
    snapshot_jobs: 'work on snapshots, this restore included',
    audit_log: 'who changed what here, restores included',
    loose_archives: 'what this blob store holds beside the used archives',
  },
  cleared: commonlyCleared,
  contents: [],
};
