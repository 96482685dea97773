import { quarantined } from '@baton/contracts';
import { checkWorkflowParameters, isFunction } from '@baton/dsl';
import { AppError, isJsonObject, type Json, type JsonObject, nearestName } from '@baton/kernel';
import { builtinOf, workflowAvailability } from '@baton/task-graph';
import type { DeploymentFacts } from '../../adapters/deployments.client';
import { candidateSource, type NameSources } from './candidates';
import type { StartRequest } from './start-request';
import {
  checkUpdateParameters,
  DELETE_WORKFLOW,
  isBlockedByDependents,
  isSystemWorkflowName,
  refuseStartedElsewhere,
  UPDATE_DEPLOYMENT,
} from './system-workflows';

/**
 * Checks that the workflow may start on the deployment, and returns its parameters (reference/workflows.md 1.2, 1.3).
 * `evaluate` resolves intrinsic functions in the context of the deployment.
 * @throws AppError nonexistent_workflow_error, unavailable_workflow_error, dependent_exists_error,
 *   illegal_execution_parameters_error, bad_parameters_error (a system workflow that another request starts).
 */
export async function checkStart(
  request: StartRequest,
  facts: DeploymentFacts,
  evaluate: (payload: JsonObject) => Promise<JsonObject>,
  names: NameSources,
): Promise<{ parameters: JsonObject; program: string | null; isCascading: boolean }> {
  refuseQuarantined(request, facts);
  requireWorkflow(request.workflowId, facts);
  const workflow = declaredWorkflow(facts, request.workflowId);
  if (!workflow && request.isOfClient) refuseStartedElsewhere(request.workflowId);
  // A start at a later time is checked again when its time has come.
  if (!request.isForced && request.scheduledForMs === null) {
    checkAvailability(request, facts, workflow);
    checkDependents(request, facts);
  }
  if (!workflow) {
    if (request.workflowId === UPDATE_DEPLOYMENT) checkUpdateParameters(request.parameters);
    const isProgram = request.workflowId === 'update' || request.workflowId === UPDATE_DEPLOYMENT;
    const program = isProgram ? request.workflowId : null;
    return { parameters: request.parameters, program, isCascading: false };
  }
  const declared = isJsonObject(workflow.parameters) ? workflow.parameters : {};
  const parameters = await parametersOf(request, declared, evaluate, names);
  const program = builtinOf({ plugin: String(workflow.plugin), operation: String(workflow.operation) });
  return { parameters, program, isCascading: workflow.is_cascading === true };
}

/**
 * Refuses a start on an imported deployment that is not activated: another manager may still drive it. Whether it may be deleted,
 * deployments has decided. @throws AppError conflict_error
 */
function refuseQuarantined({ workflowId }: StartRequest, { id, quarantine }: DeploymentFacts): void {
  if (quarantine !== '' && workflowId !== DELETE_WORKFLOW) throw quarantined(id, quarantine);
}

async function parametersOf(
  request: StartRequest,
  declared: JsonObject,
  evaluate: (payload: JsonObject) => Promise<JsonObject>,
  names: NameSources,
): Promise<JsonObject> {
  const checked = await checkWorkflowParameters(request.workflowId, declared, request.parameters, {
    allowCustomParameters: request.allowCustomParameters,
    hasDeployment: true,
    hasBlueprint: true,
    getValues: candidateSource(names),
    // One call to another service per value, and only for values with an intrinsic function.
    evaluate: async (value) => (holdsFunction(value) ? ((await evaluate({ value })).value ?? null) : value),
  });
  if (checked.ok) return checked.value;
  throw new AppError('illegal_execution_parameters_error', checked.error.message, {
    field: 'parameters',
    diagnostics: checked.faults,
  });
}

function holdsFunction(value: Json): boolean {
  if (isFunction(value)) return true;
  if (Array.isArray(value)) return value.some(holdsFunction);
  return isJsonObject(value) && Object.values(value).some(holdsFunction);
}

/** Returns the blueprint's workflow of this name. `hasOwn`, because a client may send any name, such as `constructor`. */
export function declaredWorkflow({ workflows }: DeploymentFacts, workflowId: string): JsonObject | undefined {
  return Object.hasOwn(workflows, workflowId) ? workflows[workflowId] : undefined;
}

/** @throws AppError nonexistent_workflow_error naming the nearest workflow. */
export function requireWorkflow(workflowId: string, facts: DeploymentFacts): void {
  if (!declaredWorkflow(facts, workflowId) && !isSystemWorkflowName(workflowId))
    throw nonexistent({ workflowId }, facts);
}

function nonexistent(request: Pick<StartRequest, 'workflowId'>, facts: DeploymentFacts): AppError {
  const names = Object.keys(facts.workflows);
  const nearest = nearestName(request.workflowId, names);
  return new AppError(
    'nonexistent_workflow_error',
    `Workflow ${request.workflowId} does not exist in deployment ${facts.id}${nearest ? `; did you mean ${nearest}?` : ''}`,
    { field: 'workflow_id', expected: names.sort(), nearest },
  );
}

function checkAvailability(
  request: StartRequest,
  facts: DeploymentFacts,
  workflow: JsonObject | undefined,
): void {
  const rules = (workflow?.availability_rules ?? null) as Parameters<typeof workflowAvailability>[0];
  const { isAvailable, reason } = workflowAvailability(rules, {
    nodes: facts.nodeTypes,
    nodeInstances: facts.instanceStates,
  });
  if (isAvailable) return;
  throw new AppError(
    'unavailable_workflow_error',
    `Workflow ${request.workflowId} is not available now: ${reason}`,
    {
      field: 'workflow_id',
      deployment_id: facts.id,
    },
  );
}

function checkDependents(request: StartRequest, facts: DeploymentFacts): void {
  if (!isBlockedByDependents(request.workflowId) || facts.dependents.length === 0) return;
  throw new AppError(
    'dependent_exists_error',
    `Can't execute workflow \`${request.workflowId}\` on deployment ${facts.id} - existing installations depend on it:\n${facts.dependents.join('\n')}`,
    { field: 'deployment_id' },
  );
}
