/** Arguments of an upload, in the query or in the part `params` of a multipart body. Pure. */
import {
  type LabelPair,
  labelError,
  type Ownership,
  type Principal,
  parseLabels,
  parseLabelsText,
  type Visibility,
  visibilityOfNew,
} from '@baton/contracts';
import { AppError, badParameter } from '@baton/kernel';
import { requestedMainFile } from './main-file';

/** Keys of the query and of `params`; `params` may also carry JSON values and a list of labels. */
export interface RawUploadArguments {
  application_file_name?: string;
  blueprint_archive_url?: string;
  visibility?: Visibility;
  private_resource?: boolean;
  async_upload?: boolean;
  labels?: unknown;
  created_at?: string;
  created_by?: string;
}

export interface UploadRequest {
  id: string;
  visibility: Visibility;
  /** '' means the default. */
  mainFileName: string;
  url: string | null;
  isAsync: boolean;
  /** Null: the blueprint gets the labels of the plan. */
  labels: LabelPair[] | null;
  owner: Ownership;
}

function labelsOf(given: unknown): LabelPair[] | null {
  if (given === undefined || given === null || given === '') return null;
  const labels = typeof given === 'string' ? parseLabelsText(given) : parseLabels(given);
  if (!labels.ok) throw labelError(labels.error);
  return labels.value;
}

/**
 * Reads and checks the arguments of an upload.
 * @throws AppError bad_parameters_error, forbidden_error (global without the permission for it).
 */
export function readUploadRequest(
  principal: Principal,
  id: string,
  raw: RawUploadArguments,
  owner: Ownership,
): UploadRequest {
  const mainFileName = requestedMainFile(raw.application_file_name ?? '');
  if (mainFileName === null) {
    throw badParameter('application_file_name', 'application_file_name must be a path inside the archive', {
      expected: 'path below the top folder',
    });
  }
  return {
    id,
    mainFileName,
    visibility: visibilityOfNew(principal, raw.visibility, raw.private_resource),
    url:
      raw.blueprint_archive_url === undefined || raw.blueprint_archive_url === ''
        ? null
        : raw.blueprint_archive_url,
    isAsync: raw.async_upload ?? false,
    labels: labelsOf(raw.labels),
    owner,
  };
}

/** Checks the sources of the archive: exactly one of body and URL must be given. */
export function checkSources(hasBody: boolean, url: string | null): void {
  if (hasBody && url !== null) {
    throw badParameter(
      'blueprint_archive_url',
      'an archive in the body and blueprint_archive_url cannot be given together',
      { expected: 'one of both' },
    );
  }
  if (!hasBody && url === null) {
    throw new AppError(
      'bad_parameters_error',
      'No archive: the body is empty and blueprint_archive_url is not given',
      {
        field: 'blueprint_archive_url',
        expected: 'an archive as body, or blueprint_archive_url',
      },
    );
  }
}
