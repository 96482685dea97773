/** The part of snapshots that secrets has (packages/snapshot-part). Values and connection parameters leave as they rest: encrypted. */
import { commonlyCleared, commonlyKept, type SnapshotTables } from '@baton/snapshot-part';

export const snapshotTables: SnapshotTables = {
  kept: commonlyKept,
  cleared: commonlyCleared,
  contents: ['secrets', 'secrets_providers'],
};
