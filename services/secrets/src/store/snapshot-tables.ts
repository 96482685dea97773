/**
 * The tables of secrets in a snapshot (packages/snapshot-part). Values and connection parameters are exported as stored:
 * encrypted.
 */
import { commonlyCleared, commonlyKept, importsKept, type SnapshotTables } from '@baton/snapshot-part';

export const snapshotTables: SnapshotTables = {
  kept: { ...commonlyKept, ...importsKept },
  cleared: commonlyCleared,
  contents: ['secrets', 'secrets_providers'],
};
