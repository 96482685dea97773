export { type BundlePlace, openFromBundle, sealForBundle } from './bundle-seal';
export type {
  ExportWanted,
  Fate,
  FateKind,
  ImportClient,
  ImportContext,
  Importer,
  ImportPool,
  ImportTables,
  StagedRecord,
} from './importer';
export { createImportPart, type ImportPartDeps } from './part';
export { iso, readItems } from './read-items';
export {
  type Judgement,
  type ReadRecord,
  type RecordType,
  recordImporter,
  sharedMap,
} from './record-importer';
export { judgedBy, member, ownerOf, visibilityOf, withLines } from './record-parts';
export { joined, roomFor, type Told } from './rivals';
export type { StageSealer } from './stage-sealer';
export { stagedRecords } from './staged-records';
export { lost, metFate, takeValid } from './take-each';
