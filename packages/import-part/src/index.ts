export type {
  ExportWanted,
  Fate,
  FateKind,
  ImportContext,
  Importer,
  ImportTables,
  StagedBlob,
  StagedRecord,
} from './importer';
export { createImportPart, type ImportPartDeps } from './part';
