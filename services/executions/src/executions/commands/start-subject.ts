import { AppError, badParameter, type JsonObject, nullIfNotFound } from '@baton/kernel';
import type { Ports } from '../../ports';
import type { NameSources } from '../domain/candidates';
import type { StartRequest } from '../domain/start-request';
import { isSystemWorkflowName, refuseStartedElsewhere, UPDATE_DEPLOYMENT } from '../domain/system-workflows';
import { checkStart } from '../domain/workflow-check';
import { rootDeployment } from '../store/executions.sql';

export type StartSubjectDeps = Pick<Ports, 'catalog' | 'db' | 'deployments'>;

/** Deployment, blueprint, program and parameters of a start, after all checks that need other services. */
export interface StartSubject {
  blueprintId: string | null;
  displayName: string | null;
  visibility: string;
  /** The execution that made the deployment; null: not known, or there is none. */
  madeBy: string | null;
  program: string | null;
  parameters: StartRequest['parameters'];
  /** Whether the workflow is also started on the components of the deployment. */
  isCascading: boolean;
}

/** Checks a start against its deployment. @throws AppError the errors of requestExecution that come from the deployment. */
export async function subjectOf(deps: StartSubjectDeps, request: StartRequest): Promise<StartSubject> {
  if (request.deploymentId === null) {
    if (!isSystemWorkflowName(request.workflowId)) {
      throw new AppError(
        'nonexistent_workflow_error',
        `${request.workflowId} is no system workflow, and no deployment is given`,
        {
          field: 'workflow_id',
        },
      );
    }
    if (request.isOfClient) refuseStartedElsewhere(request.workflowId);
    if (request.workflowId === UPDATE_DEPLOYMENT)
      throw badParameter('deployment_id', `${UPDATE_DEPLOYMENT} updates a deployment`, {
        expected: 'the id of a deployment',
      });
    return {
      blueprintId: null,
      displayName: null,
      visibility: 'tenant',
      madeBy: null,
      program: null,
      parameters: request.parameters,
      isCascading: false,
    };
  }
  const caller = { username: request.createdBy, isAdministrator: request.isAdministrator };
  const leaving = await leavingWith(deps, request);
  const facts = await deps.deployments.facts(request.tenant, request.deploymentId, caller, leaving);
  const evaluate = (payload: JsonObject) =>
    deps.deployments.evaluate(request.tenant, facts.id, request.createdBy, payload);
  const checked = await checkStart(request, facts, evaluate, nameSources(deps, request, facts.id));
  return {
    blueprintId: facts.blueprintId,
    displayName: facts.displayName,
    visibility: facts.visibility,
    madeBy: facts.madeBy,
    ...checked,
  };
}

/**
 * Returns the deployment whose dependents below it go together with it, so that they do not block this execution: its own
 * deployment when it is recursive, that of the first execution when it is nested (reference/rest-api.md 6.6); none: ''.
 */
export async function leavingWith(
  deps: Pick<Ports, 'db'>,
  request: Pick<StartRequest, 'deploymentId' | 'parameters' | 'parentId'>,
): Promise<string> {
  if (request.parentId !== undefined) return await rootDeployment(deps.db.query, request.parentId);
  return request.parameters.recursive === true ? (request.deploymentId ?? '') : '';
}

/** Creates the sources of the names that parameters of object types refer to; the model is read when it is first needed. */
export function nameSources(
  deps: StartSubjectDeps,
  request: StartRequest,
  deploymentId: string,
): NameSources {
  let model: ReturnType<NameSources['model']> | null = null;
  const caller = { username: request.createdBy, isAdministrator: request.isAdministrator };
  return {
    model: () =>
      (model ??= deps.deployments
        .model(request.tenant, deploymentId, { isWhole: true })
        .then((answer) => answer.model)),
    hasBlueprint: (id) => deps.catalog.hasBlueprint(request.tenant, id),
    hasDeployment: async (id) =>
      (await nullIfNotFound(deps.deployments.facts(request.tenant, id, caller))) !== null,
  };
}
