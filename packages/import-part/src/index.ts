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
export type { StageSealer } from './stage-sealer';
export { stagedRecords } from './staged-records';
export { lost, metFate, takeValid } from './take-each';
