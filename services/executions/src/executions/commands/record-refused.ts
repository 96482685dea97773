import { newId } from '@baton/kernel';
import type { Ports } from '../../ports';
import { payloadHash, type StartRequest } from '../domain/start-request';
import { insertExecution, updateExecution } from '../store/executions.sql';
import { requestedRow } from './request-execution';
import { type StartSubjectDeps, subjectOf } from './start-subject';

type RecordRefusedDeps = Pick<Ports, 'db' | 'tokenKey'> & StartSubjectDeps;

/**
 * Stores a start that was refused because its workflow is not available, as a failed execution that never began: the original
 * stores its executions before this check. A repeated request is refused and stored again.
 * @throws AppError illegal_execution_parameters_error; nothing is stored then.
 */
export async function recordRefused(deps: RecordRefusedDeps, request: StartRequest): Promise<void> {
  const subject = await subjectOf(deps, { ...request, isForced: true });
  const id = newId();
  await deps.db.tx(async (tx) => {
    await insertExecution(tx, {
      ...requestedRow(deps, { ...request, requestId: id }, subject, id),
      payload_hash: payloadHash(request),
      status: 'pending',
      phase: 'planning',
      scheduled_for: null,
      wake_at: null,
    });
    const error = `Error preparing execution: Workflow not available: ${request.workflowId}`;
    await updateExecution(tx, id, { status: 'failed', phase: 'ended', error });
  });
}
