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
