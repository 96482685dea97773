import type { ExecutionRow } from '../../store/rows';

/**
 * Payload of executions.execution-requested.v1 and executions.execution-accepted.v1. With the deployment in it deployments
 * shows the execution as the latest one; a dry run is none. With the version of the row, where it has one: what was told of the same execution before is older.
 */
export function requestedOf(
  row: Pick<ExecutionRow, 'id' | 'deployment_id' | 'workflow_id' | 'is_dry_run'> & { version?: number },
  isResumed?: true,
): {
  executionId: string;
  deploymentId?: string;
  workflowId?: string;
  isResumed?: true;
  version?: number;
} {
  const deploymentId = row.is_dry_run ? undefined : (row.deployment_id ?? undefined);
  const version = row.version || undefined;
  return { executionId: row.id, deploymentId, workflowId: row.workflow_id, isResumed, version };
}
