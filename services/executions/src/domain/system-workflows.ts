/** Workflows that need no entry in a deployment (reference/workflows.md 1.1). */
const SYSTEM_WORKFLOWS = new Set([
  'create_snapshot',
  'restore_snapshot',
  'uninstall_plugin',
  'update_plugin',
  'create_deployment_environment',
  'delete_deployment_environment',
  'upload_blueprint',
  'csys_update_deployment',
  'update',
  'csys_new_deployment_update',
  'create_log_bundle',
]);

export function isSystemWorkflowName(workflowId: string): boolean {
  return SYSTEM_WORKFLOWS.has(workflowId);
}

/** System workflows without a deployment that run beside everything else (reference/rest-api.md 6.3). */
export const parallelSystemWorkflows: readonly string[] = [
  'create_snapshot',
  'upload_blueprint',
  'create_log_bundle',
  // The updates that it starts are executions of their own, each behind the guard of its deployment.
  'update_plugin',
];

/** Whether nothing may run beside it. */
export function isSystemWide(execution: {
  workflow_id: string;
  deployment_id: string | null;
  is_system_workflow: boolean;
}): boolean {
  return (
    execution.deployment_id === null &&
    execution.is_system_workflow &&
    !parallelSystemWorkflows.includes(execution.workflow_id)
  );
}

/** System workflows that the owner of their subject carries out and reports (ReportSystemExecution): no graph, no worker. */
export const workflowsCarriedOutElsewhere: readonly string[] = [
  'create_snapshot',
  'restore_snapshot',
  'create_log_bundle',
  'update_plugin',
];

export function isCarriedOutElsewhere(execution: {
  workflow_id: string;
  deployment_id: string | null;
}): boolean {
  return execution.deployment_id === null && workflowsCarriedOutElsewhere.includes(execution.workflow_id);
}

/** System workflows without a graph: the service that owns the subject does the work when the execution ends. */
const EMPTY_WORKFLOWS = new Set(['create_deployment_environment', 'delete_deployment_environment']);

export function isEmptyWorkflow(workflowId: string): boolean {
  return EMPTY_WORKFLOWS.has(workflowId);
}

/** Workflows that are refused while other deployments depend on this one (reference/rest-api.md 6.6). */
const BLOCKED_BY_DEPENDENTS = new Set(['stop', 'uninstall', 'update', 'csys_new_deployment_update', 'heal']);

export function isBlockedByDependents(workflowId: string): boolean {
  return BLOCKED_BY_DEPENDENTS.has(workflowId);
}
