import { initiateUpdateBody } from '@baton/contracts/http/deployment-updates';
import { AppError, badParameter, type JsonObject } from '@baton/kernel';

/**
 * Workflows that need no entry in a deployment (reference/workflows.md 1.1), with the request that starts each. That request has
 * its own checks and permissions, so the workflow cannot be started by its name. Null: it may be started by its name.
 */
const SYSTEM_WORKFLOWS: Record<string, string | null> = {
  create_snapshot: 'PUT /snapshots/{id}',
  restore_snapshot: 'POST /snapshots/{id}/restore',
  uninstall_plugin: 'DELETE /plugins/{id}',
  update_plugin: 'PUT /plugins-updates/{blueprint_id}/update/initiate',
  create_deployment_environment: 'PUT /deployments/{id}',
  delete_deployment_environment: 'DELETE /deployments/{id}',
  upload_blueprint: 'PUT /blueprints/{id}',
  csys_update_deployment: null,
  update: 'PUT /deployment-updates/{deployment_id}/update/initiate',
  csys_new_deployment_update: 'PUT /deployment-updates/{deployment_id}/update/initiate',
  create_log_bundle: 'PUT /log-bundles/{id}',
};

/** A deployment update as an execution: updates of deployments in groups use it (reference/workflows.md 1.15). */
export const UPDATE_DEPLOYMENT = 'csys_update_deployment';

export function isSystemWorkflowName(workflowId: string): boolean {
  return Object.hasOwn(SYSTEM_WORKFLOWS, workflowId);
}

/**
 * Refuses the name of a system workflow that only a request on its own resource starts.
 * @throws AppError bad_parameters_error naming that request.
 */
export function refuseStartedElsewhere(workflowId: string): void {
  const request = isSystemWorkflowName(workflowId) ? SYSTEM_WORKFLOWS[workflowId] : null;
  if (request)
    throw badParameter('workflow_id', `${workflowId} is started by the request on its own resource`, {
      expected: request,
    });
}

const updateParameters = initiateUpdateBody.strict();

/**
 * Checks the parameters of csys_update_deployment, which are the body of a request for an update.
 * @throws AppError illegal_execution_parameters_error naming the wrong parameters.
 */
export function checkUpdateParameters(parameters: JsonObject): void {
  const { error } = updateParameters.safeParse(parameters);
  if (!error) return;
  const lines = error.issues.map(({ path, message }) => `${path.join('.') || 'parameters'}: ${message}`);
  throw new AppError(
    'illegal_execution_parameters_error',
    `Parameters of ${UPDATE_DEPLOYMENT} do not fit: ${lines.join('; ')}`,
    { field: 'parameters', expected: Object.keys(initiateUpdateBody.shape).sort() },
  );
}

/** System workflows without a deployment that run beside everything else (reference/rest-api.md 6.3). */
export const parallelSystemWorkflows: readonly string[] = [
  'create_snapshot',
  'upload_blueprint',
  'create_log_bundle',
  // The updates that it starts are executions of their own, each behind the guard of its deployment.
  'update_plugin',
];

/** Returns whether nothing may run beside this execution. */
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

/** Workflow whose end deletes its deployment. */
export const DELETE_WORKFLOW = 'delete_deployment_environment';

/** System workflows without a graph: the service that owns the subject does the work when the execution ends. */
const EMPTY_WORKFLOWS = new Set(['create_deployment_environment', DELETE_WORKFLOW]);

export function isEmptyWorkflow(workflowId: string): boolean {
  return EMPTY_WORKFLOWS.has(workflowId);
}

/** Workflows that are refused while other deployments depend on this one (reference/rest-api.md 6.6). */
const BLOCKED_BY_DEPENDENTS = new Set([
  'stop',
  'uninstall',
  'update',
  UPDATE_DEPLOYMENT,
  'csys_new_deployment_update',
  'heal',
]);

export function isBlockedByDependents(workflowId: string): boolean {
  return BLOCKED_BY_DEPENDENTS.has(workflowId);
}
