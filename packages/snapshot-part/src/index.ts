export { snapshotTablesFault } from './check-tables';
export { createDoctorPart, examineTables, heldForEver, type TableCheck } from './doctor-part';
export { linesOf } from './lines';
export { createSnapshotPart, type SnapshotPartDeps } from './part';
export { RowHash } from './row-hash';
export { inSession } from './session';
export { type SharedInstant, shareInstant } from './share-instant';
export {
  commonlyCleared,
  commonlyKept,
  importsKept,
  type SnapshotClient,
  type SnapshotTables,
  type SwitchContext,
} from './snapshot-tables';
export { createTenantPart } from './tenant-part';
