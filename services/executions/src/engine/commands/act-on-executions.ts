import type { ListQuery, Principal } from '@baton/contracts';
import { AppError, badParameter, isAppError } from '@baton/kernel';
import { matchingExecutions } from '../../executions/queries/list-executions';
import type { Ports } from '../../ports';
import type { CancelMode } from '../domain/cancel';
import { type CancelExecutionDeps, cancelExecution } from './cancel-execution';
import { type ResumeExecutionDeps, resumeExecution } from './resume-execution';

export type ActOnExecutionsDeps = Pick<Ports, 'db' | 'log'> & CancelExecutionDeps & ResumeExecutionDeps;

export type BulkAction = CancelMode | 'resume' | 'force-resume';

/** Limit of the executions handled by one request; `total` of the result counts all that match. */
const MAX_BULK = 500;

export interface BulkResult {
  total: number;
  items: { id: string; error_code: string | null; message: string | null }[];
}

/**
 * Cancels or resumes the executions that the filters match and whose state fits the action, oldest first, at most MAX_BULK. Each
 * execution has its own transaction. A refused execution is returned with the reason, and the others go on. Repeating a cancel
 * changes nothing.
 * @throws AppError bad_parameters_error without any filter: nobody should act on all executions by accident.
 */
export async function actOnExecutions(
  deps: ActOnExecutionsDeps,
  principal: Principal,
  list: ListQuery,
  action: BulkAction,
): Promise<BulkResult> {
  if (Object.keys(list.filters).length === 0)
    throw badParameter('status', 'At least one filter is needed', {
      expected: 'status, deployment_id, workflow_id, blueprint_id, created_by or id',
    });
  const isResume = action === 'resume' || action === 'force-resume';
  const { ids, total } = await matchingExecutions(deps.db.query, principal, list, isResume, MAX_BULK);
  const items: BulkResult['items'] = [];
  for (const id of ids) {
    const refusal = await (isResume
      ? resumeExecution(deps, id, action === 'force-resume')
      : cancelExecution(deps, id, action)
    ).then(
      () => null,
      (error: unknown) => refusalOf(deps, id, error),
    );
    items.push({ id, error_code: refusal?.code ?? null, message: refusal?.message ?? null });
  }
  return { total, items };
}

/** Returns the error to report for one execution. A failure, such as an unreadable graph, counts as a refusal: the others go on. */
function refusalOf(deps: ActOnExecutionsDeps, executionId: string, error: unknown): AppError {
  if (isAppError(error) && error.entry.http < 500) return error;
  if (isAppError(error) && error.entry.retryable) throw error;
  deps.log.error({ err: error, executionId }, 'one of many executions could not be acted on');
  return new AppError('internal_server_error', 'Internal error; see the log of the executions service');
}
