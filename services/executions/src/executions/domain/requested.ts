import type { ExecutionRow } from '../../store/rows';

/**
 * Returns the payload of executions.execution-requested.v1 and executions.execution-accepted.v1. If it has the deployment, the
 * deployments service shows the execution as the latest one; a dry run leaves it out, since it is none. It has the version of the
 * row, where there is one: deployments sees by it that earlier news of the same execution is older.
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
