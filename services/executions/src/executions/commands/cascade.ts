import { AppError, isAppError } from '@baton/kernel';
import type { Ports } from '../../ports';
import { cascadedRequestId } from '../domain/cascade';
import type { StartRequest } from '../domain/start-request';
import { type StartSubject, type StartSubjectDeps, subjectOf } from './start-subject';

export type CascadeDeps = Pick<Ports, 'deployments'> & StartSubjectDeps;

/** A start that has passed all checks. */
export interface CheckedStart {
  request: StartRequest;
  subject: StartSubject;
}

/** Limit of the executions that one request may start. */
const MAX_STARTS = 1000;

/**
 * Returns all starts of a request for a cascading workflow (reference/workflows.md 8.4): its own execution first, then one on each
 * component, with the same parameters and flags. Where the workflow of a component cascades too, its components follow. A
 * deployment that is reached twice counts once.
 * @throws AppError as subjectOf does for any of them, naming the component: none is started then; bad_parameters_error.
 */
export async function cascadeOf(
  deps: CascadeDeps,
  asked: StartRequest & { requestId: string },
  subject: StartSubject,
): Promise<CheckedStart[]> {
  const starts: (CheckedStart & { request: { requestId: string } })[] = [{ request: asked, subject }];
  const seen = new Set([asked.deploymentId]);
  for (let at = 0; at < starts.length; at++) {
    const parent = starts[at]!;
    if (!parent.subject.isCascading) continue;
    for (const id of await deps.deployments.components(asked.tenant, parent.request.deploymentId!)) {
      if (seen.has(id)) continue;
      seen.add(id);
      if (starts.length === MAX_STARTS) throw tooMany(asked);
      const requestId = cascadedRequestId({ request_id: parent.request.requestId }, id);
      const request = { ...asked, deploymentId: id, requestId };
      starts.push({ request, subject: await subjectOfComponent(deps, request, parent.request) });
    }
  }
  return starts;
}

async function subjectOfComponent(
  deps: CascadeDeps,
  request: StartRequest,
  parent: StartRequest,
): Promise<StartSubject> {
  try {
    return await subjectOf(deps, request);
  } catch (error) {
    if (!isAppError(error) || error.entry.retryable) throw error;
    const why = `${request.deploymentId} is a component of ${parent.deploymentId}, and ${request.workflowId} cascades to it`;
    throw new AppError(error.code, `${error.message} (${why})`, error.details, { cause: error });
  }
}

function tooMany({ workflowId, deploymentId }: StartRequest): AppError {
  return new AppError(
    'bad_parameters_error',
    `${workflowId} of ${deploymentId} cascades to more than ${MAX_STARTS - 1} components`,
    { field: 'workflow_id', expected: `at most ${MAX_STARTS - 1} components` },
  );
}
