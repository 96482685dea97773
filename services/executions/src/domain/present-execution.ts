import type { ApiVersion } from '@baton/contracts';
import type { ExecutionRow } from '../store/rows';

/** Fields of an execution in v2.1 (spec v2.1 "Execution"). */
export const legacyExecutionFields = [
  'id',
  'workflow_id',
  'blueprint_id',
  'deployment_id',
  'status',
  'error',
  'created_at',
  'parameters',
  'is_system_workflow',
] as const;

/** An execution as REST shows it (spec v3.1 part 2 "Execution", v2.1 "Execution"). */
export function presentExecution(row: ExecutionRow, version: ApiVersion): Record<string, unknown> {
  const shown: Record<string, unknown> = {
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
  if (version !== 'v2.1') return shown;
  return Object.fromEntries(
    legacyExecutionFields.map((field) => [
      field,
      field === 'created_at' ? naiveTime(row.created_at) : shown[field],
    ]),
  );
}

export function statusDisplay(status: string): string {
  return status === 'terminated' ? 'completed' : status;
}

/** `YYYY-MM-DD hh:mm:ss.ffffff` without a zone, as v2.1 writes times. */
export function naiveTime(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 23)}000`;
}
