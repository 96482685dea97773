import type { UploadState } from '../domain/upload.machine';
import type { BlueprintRow } from '../queries/read-blueprints';

/** The answer to an upload that was only accepted: as it began, however far it may be by now. */
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
