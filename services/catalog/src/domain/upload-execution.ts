import type { LabelPair, Visibility } from '@baton/contracts';
import type { UploadState } from './upload.machine';

/** Returns the parameters of an upload's execution, with the names of the original. */
export function uploadParameters(upload: {
  id: string;
  mainFile: string;
  url: string | null;
  labels: readonly LabelPair[] | null;
  isValidation?: boolean;
}): Record<string, unknown> {
  return {
    blueprint_id: upload.id,
    app_file_name: upload.mainFile,
    url: upload.url,
    file_server_root: '',
    validate_only: upload.isValidation === true,
    labels: upload.labels ?? [],
    marketplace_api_url: 'https://marketplace.cloudify.co',
  };
}

/** Returns the same parameters from the columns that store a request. */
export const parametersOf = (upload: {
  id: string;
  requested_main_file: string;
  archive_url: string | null;
  requested_labels: readonly LabelPair[] | null;
}): Record<string, unknown> =>
  uploadParameters({
    id: upload.id,
    mainFile: upload.requested_main_file,
    url: upload.archive_url,
    labels: upload.requested_labels,
  });

/**
 * Returns the visibility of an upload's execution: an execution belongs to its tenant even when the blueprint is global. For a
 * private blueprint it is private, because it would otherwise reveal the blueprint.
 */
export const uploadVisibility = (ofBlueprint: Visibility): Visibility =>
  ofBlueprint === 'private' ? 'private' : 'tenant';

const EXTRACTING = 'Blueprint archive uploaded. Extracting...';
const PARSING = 'Blueprint archive extracted. Parsing...';

/** Returns the log lines of the execution of an ended upload (reference/rest-api.md 6.5), up to the step that it reached. */
export function uploadLog(state: UploadState): string[] {
  if (state === 'failed_uploading') return [];
  if (state === 'failed_extracting' || state === 'failed_extracting_to_file_server') return [EXTRACTING];
  if (state !== 'uploaded') return [EXTRACTING, PARSING];
  return [EXTRACTING, PARSING, 'Blueprint parsed. Updating DB with blueprint plan.'];
}

/** Returns the log lines of a validation. */
export const validationLog = (isValid: boolean): string[] => [
  EXTRACTING,
  PARSING,
  ...(isValid ? ['Blueprint validated.'] : []),
];
