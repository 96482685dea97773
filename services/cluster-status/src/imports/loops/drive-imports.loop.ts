import { type LeasedWork, leasedWork } from '@baton/service-runtime';
import { takeImportStep } from '../commands/drive-import';
import type { ImportDeps } from '../commands/import-deps';

/** Works on imports, on every replica. A process takes one at a time, because each reads and writes everything. */
export function driveImports(deps: ImportDeps): LeasedWork {
  const takeStep = (stopping: AbortSignal) => takeImportStep(deps, stopping);
  return leasedWork({ name: 'drive-imports', log: deps.log, takeStep });
}
