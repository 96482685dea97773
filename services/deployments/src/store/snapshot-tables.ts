/** The tables of deployments in snapshots (packages/snapshot-part). */
import { commonlyCleared, commonlyKept, type SnapshotTables } from '@baton/snapshot-part';

export const snapshotTables: SnapshotTables = {
  kept: commonlyKept,
  cleared: {
    ...commonlyCleared,
    row_counts: 'counted anew by triggers while the rows are loaded',
    deployment_texts: 'written anew by triggers while the rows are loaded',
    deployment_group_requests: 'idempotency keys of requests, which are not repeated after a restore',
    drift_changes: 'told to webhooks before the restore, or not at all',
    settled_executions: 'guards against deliveries under way, of which there are none after a restore',
    model_calls: 'answers kept for running executions, which end with a restore',
  },
  contents: ['deployments'],
};
