import type { JsonObject } from '@baton/kernel';
import type { ExecutionRow } from '../../store/rows';

/** Returns an execution as the REST API shows it (spec v3.1 part 2 "Execution"). */
export function presentExecution(row: ExecutionRow): Record<string, unknown> {
  return {
    id: row.id,
    workflow_id: row.workflow_id,
    blueprint_id: row.blueprint_id,
    deployment_id: row.deployment_id,
    deployment_display_name: row.deployment_display_name,
    status: row.status,
    status_display: statusDisplay(row.status),
    error: row.error,
    parameters: row.parameters,
    is_system_workflow: row.is_system_workflow,
    is_dry_run: row.is_dry_run,
    resume: row.is_resumed,
    allow_custom_parameters: row.allow_custom_parameters,
    created_at: row.created_at,
    started_at: row.started_at,
    ended_at: row.ended_at,
    scheduled_for: row.scheduled_for,
    created_by: row.created_by,
    tenant_name: row.tenant,
    visibility: row.visibility,
    private_resource: row.visibility === 'private',
    resource_availability: row.visibility,
    total_operations: row.total_operations,
    finished_operations: row.finished_operations,
  };
}

const NOTHING = Object.fromEntries(
  Object.keys(presentExecution({} as ExecutionRow)).map((field) => [field, null]),
);

/** Returns an upload that the catalog has in work, in the form of the execution that clients of the original wait for. */
export function presentUpload(upload: {
  executionId: string;
  tenant: string;
  createdBy: string;
  createdAt: string;
  visibility: string;
  parameters: JsonObject;
}): Record<string, unknown> {
  const { executionId, tenant, createdBy, createdAt, visibility, parameters } = upload;
  return {
    ...NOTHING,
    id: executionId,
    workflow_id: 'upload_blueprint',
    status: 'started',
    status_display: 'started',
    error: '',
    parameters,
    is_system_workflow: false,
    is_dry_run: false,
    resume: false,
    allow_custom_parameters: true,
    created_at: createdAt,
    started_at: createdAt,
    created_by: createdBy,
    tenant_name: tenant,
    visibility,
    private_resource: visibility === 'private',
    resource_availability: visibility,
  };
}

/** Returns the answer of the original when a start at a later time made a schedule: an execution that does not exist yet. */
export function presentScheduled(): Record<string, unknown> {
  return {
    ...NOTHING,
    status: 'scheduled',
    status_display: 'scheduled',
    allow_custom_parameters: false,
    private_resource: false,
  };
}

function statusDisplay(status: string): string {
  return status === 'terminated' ? 'completed' : status;
}
