/** The catalog's part of imports (packages/import-part): plugins before the blueprints that import them. */
import type { ImportTables } from '@baton/import-part';
import { releaseBlobs } from './blobs';
import { type BlueprintImportDeps, blueprintsImporter } from './blueprints';
import { exportCatalog } from './export-catalog';
import { filtersImporter } from './filters';
import { type PluginImportDeps, pluginsImporter } from './plugins';

export type ImportDeps = PluginImportDeps & BlueprintImportDeps;

export function createImportTables(deps: ImportDeps): ImportTables {
  return {
    importers: [pluginsImporter(deps), blueprintsImporter(deps), filtersImporter],
    discarded: releaseBlobs,
    exported: exportCatalog,
  };
}
