import type { UploadState } from '../domain/upload.machine';
import type { BlueprintRow } from '../queries/read-blueprints';

/** Returns the row for the answer to an accepted upload: in its initial state, however far it has come since. */
export function asAccepted(row: BlueprintRow, state: UploadState): BlueprintRow {
  return {
    ...row,
    state,
    plan: null,
    requirements: null,
    description: null,
    labels: [],
    error: null,
    error_traceback: null,
  };
}
