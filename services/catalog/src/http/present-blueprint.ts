/** Rows as the wire shows them: v3.1 in both spellings, v2.1. */
import type { ApiVersion, LabelPair, Principal, Visibility } from '@baton/contracts';
import { legacyFields } from '@baton/contracts/http/legacy-fields';
import type { Wire } from '@baton/http';
import { hasFailed, type UploadState, uploadMachine } from '../domain/upload.machine';
import { uploadParameters, uploadVisibility } from '../domain/upload-execution';
import type { BlueprintRow } from '../queries/read-blueprints';

/** Columns of the original's storage that its clients may look for. */
const CLOUDIFY_EXTRAS = { plan_p: null };

/** `2026-11-21T02:46:17.123Z` as `2026-11-21 02:46:17.123000` (spec v2.1). */
export function legacyTime(iso: unknown): unknown {
  return typeof iso === 'string' ? `${iso.slice(0, 10)} ${iso.slice(11, 23)}000` : iso;
}

function executionStatus(state: UploadState): [status: string, display: string] {
  if (state === 'uploaded') return ['terminated', 'completed'];
  if (hasFailed(state)) return ['failed', 'failed'];
  return state === 'pending' || state === 'uploading' ? ['pending', 'pending'] : ['started', 'started'];
}

/** Column `upload_execution` of queries/blueprint-columns.ts. */
interface StoredUpload {
  id: string;
  ended_at: string | null;
  url: string | null;
  labels: LabelPair[] | null;
  main_file: string;
  visibility: Visibility;
  is_validation?: boolean;
}

/** The system execution that an upload is on the original's wire; here it is a view of the blueprint's own states. */
function uploadExecution(row: BlueprintRow): Record<string, unknown> {
  const raw = row.upload_execution as StoredUpload;
  const visibility = uploadVisibility(raw.visibility);
  const state = row.state as UploadState;
  // Of a body that was refused at once no execution has begun.
  const hasBegun = raw.url !== null || state !== 'failed_uploading';
  const [status, display] = executionStatus(hasBegun ? state : 'uploading');
  const isOver = hasBegun && uploadMachine.isTerminal(state);
  return {
    id: raw.id,
    workflow_id: 'upload_blueprint',
    status,
    status_display: display,
    is_system_workflow: false,
    created_at: row.created_at,
    started_at: status === 'pending' ? null : row.created_at,
    ended_at: isOver ? raw.ended_at : null,
    scheduled_for: null,
    error: state === 'uploaded' ? '' : isOver ? row.error : null,
    parameters: uploadParameters({
      id: String(row.id),
      mainFile: raw.main_file,
      url: raw.url,
      labels: raw.labels,
      isValidation: raw.is_validation === true,
    }),
    parameters_p: null,
    is_dry_run: false,
    resume: false,
    total_operations: 0,
    finished_operations: 0,
    allow_custom_parameters: true,
    blueprint_id: null,
    execution_group_id: '[]',
    deployment_id: null,
    deployment_display_name: null,
    visibility,
    resource_availability: visibility,
    private_resource: visibility === 'private',
    tenant_name: row.tenant_name,
    created_by: row.created_by,
  };
}

/** A row for the wire; fields that were not selected stay away. */
export function presentBlueprint(
  row: BlueprintRow,
  version: ApiVersion,
  wire: Wire,
): Record<string, unknown> {
  if (wire === 'cloudify') return { ...row, upload_execution: uploadExecution(row), ...CLOUDIFY_EXTRAS };
  if (version === 'v3.1') return { ...row, upload_execution: null };
  const legacy = Object.fromEntries(legacyFields.blueprint.filter((f) => f in row).map((f) => [f, row[f]]));
  return {
    ...legacy,
    created_at: legacyTime(row.created_at),
    ...('updated_at' in row ? { updated_at: legacyTime(row.updated_at) } : {}),
  };
}

/** The blueprint of a validation on the original's wire; no row stands behind it. */
export function presentValidation(
  validation: {
    id: string;
    mainFileName: string;
    url: string | null;
    visibility: Visibility;
    executionId: string;
    createdAt: string;
  },
  principal: Principal,
): Record<string, unknown> {
  const { id, mainFileName, visibility, createdAt } = validation;
  const row: BlueprintRow = {
    id,
    description: null,
    main_file_name: mainFileName,
    plan: null,
    requirements: null,
    created_at: createdAt,
    updated_at: createdAt,
    created_by: principal.username,
    tenant_name: principal.tenant,
    visibility,
    private_resource: visibility === 'private',
    resource_availability: visibility,
    is_hidden: false,
    state: 'pending',
    error: null,
    error_traceback: null,
    labels: [],
    upload_execution: {
      id: validation.executionId,
      ended_at: null,
      url: validation.url,
      labels: null,
      main_file: mainFileName,
      visibility,
      is_validation: true,
    } satisfies StoredUpload,
  };
  return { ...presentBlueprint(row, 'v3.1', 'cloudify'), state: 'validating' };
}

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
