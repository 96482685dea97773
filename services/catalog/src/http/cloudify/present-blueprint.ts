/** Blueprints in the form of the original API: an upload appears to its clients as an execution. */
import type { LabelPair, Principal, Visibility } from '@baton/contracts';
import { hasFailed, type UploadState, uploadMachine } from '../../domain/upload.machine';
import { uploadParameters, uploadVisibility } from '../../domain/upload-execution';
import type { BlueprintRow } from '../../queries/read-blueprints';

/** Columns of the original's database that its clients may read. */
const EXTRAS = { plan_p: null };

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

/** Returns the system execution of an upload, derived from the states of the blueprint. */
function uploadExecution(row: BlueprintRow): Record<string, unknown> {
  const raw = row.upload_execution as StoredUpload;
  const visibility = uploadVisibility(raw.visibility);
  const state = row.state as UploadState;
  // An upload whose body was refused at once has no execution that has begun.
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

/** Converts a row for the wire; fields that were not selected are omitted. */
export function presentBlueprint({ has_icon: _ours, ...row }: BlueprintRow): Record<string, unknown> {
  return { ...row, upload_execution: uploadExecution(row), ...EXTRAS };
}

/** Returns the blueprint of a validation, which has no row. */
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
  return { ...presentBlueprint(row), state: 'validating' };
}
