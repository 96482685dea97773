/** The part of secrets in imports (packages/import-part). */
import type { ImportTables, StageSealer } from '@baton/import-part';
import { Secret } from '@baton/kernel';
import { openText, sealText } from '../domain/sealed-text';
import type { ValueDeps } from '../queries/read-value';
import { exportSecrets } from './export-secrets';
import { providersImporter } from './providers';
import { secretsImporter } from './secrets';

type Deps = Pick<ValueDeps, 'masters'>;

export function createImportTables(deps: Deps): ImportTables {
  return {
    importers: [providersImporter(deps), secretsImporter(deps)],
    exported: (client, wanted) => exportSecrets(client, wanted, deps.masters),
  };
}

/** Both types are staged sealed by the master key. No text of another service has the empty tenant. */
export function createStageSealer({ masters }: Deps): StageSealer {
  return {
    types: ['secrets', 'secrets_providers'],
    seal: (place, text) =>
      sealText(masters[0]!, { tenant: '', use: place }, new Secret(text)).toString('base64'),
    open: (place, sealed) => {
      const opened = openText(masters, { tenant: '', use: place }, Buffer.from(sealed, 'base64'));
      if (!opened)
        throw new Error('staged secrets cannot be opened: they were changed, or their master key is missing');
      return opened.text.expose();
    },
  };
}
