import type { Ownership } from '@baton/contracts';
import { AppError, newId } from '@baton/kernel';
import type { Ports } from '../../ports';
import type { ExecutionRow } from '../../store/rows';
import type { PastExecution } from '../domain/past-execution';
import { payloadHash, type StartRequest } from '../domain/start-request';
import { insertExecution, lockExecution, NOW, readExecution, updateExecution } from '../store/executions.sql';
import { requestedRow } from './request-execution';

/**
 * Stores an execution that has ended elsewhere, and runs nothing: this way clients import executions of another manager. The
 * workflow and its parameters are not checked, since both may be gone from the deployment meanwhile.
 * @throws AppError not_found_error for an unknown deployment, conflict_error for an id that is taken.
 */
export async function restoreExecution(
  deps: Pick<Ports, 'db' | 'deployments' | 'tokenKey'>,
  request: StartRequest,
  past: PastExecution,
  owner: Ownership,
): Promise<ExecutionRow> {
  const id = past.id ?? newId();
  const caller = { username: request.createdBy, isAdministrator: request.isAdministrator };
  const facts =
    request.deploymentId === null
      ? null
      : await deps.deployments.facts(request.tenant, request.deploymentId, caller);
  const subject = {
    blueprintId: facts?.blueprintId ?? null,
    displayName: facts?.displayName ?? null,
    visibility: facts?.visibility ?? 'tenant',
    madeBy: facts?.madeBy ?? null,
    program: null,
    parameters: request.parameters,
  };
  return await deps.db.tx(async (tx) => {
    if (await readExecution(tx, id))
      throw new AppError('conflict_error', `Execution with ID \`${id}\` already exists`, { field: 'id' });
    await insertExecution(tx, {
      ...requestedRow(deps, { ...request, createdBy: owner.createdBy }, subject, id),
      payload_hash: payloadHash(request),
      status: 'pending',
      phase: 'planning',
      scheduled_for: null,
      wake_at: null,
    });
    const { status, error } = past.outcome;
    await updateExecution(tx, id, {
      status,
      phase: 'ended',
      error,
      created_at: owner.createdAt ?? NOW,
      started_at: past.startedAt,
      ended_at: past.endedAt ?? NOW,
      outcome: past.outcome,
      total_operations: 0,
      finished_operations: 0,
    });
    return (await lockExecution(tx, id))!;
  });
}
