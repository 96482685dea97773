import type { ExecutionRow } from '../store/rows';

/**
 * Payload of executions.execution-requested.v1. With the deployment in it deployments shows the execution as the latest
 * one; a dry run is none.
 */
export function requestedOf(
  row: Pick<ExecutionRow, 'id' | 'deployment_id' | 'workflow_id' | 'is_dry_run'>,
  isResumed?: true,
): { executionId: string; deploymentId?: string; workflowId?: string; isResumed?: true } {
  const deploymentId = row.is_dry_run ? undefined : (row.deployment_id ?? undefined);
  return { executionId: row.id, deploymentId, workflowId: row.workflow_id, isResumed };
}
