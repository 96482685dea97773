export type {
  ExportWanted,
  Fate,
  FateKind,
  ImportContext,
  Importer,
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
