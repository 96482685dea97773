import type { ListQuery, Principal } from '@baton/contracts';
import { badParameter, isoInstant, readInstant } from '@baton/kernel';
import type { Db } from '@baton/postgres';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { executionScope, filteredExecutions } from '../queries/list-executions';
import { deleteMatching, isOverFor } from '../store/delete-executions.sql';

const ENDS = ['terminated', 'failed', 'cancelled'];

export interface DeleteRequest {
  to_datetime?: string | null;
  keep_last?: number | string | null;
}

/**
 * Deletes ended executions with their graphs and events (reference/rest-api.md 5.7): those before a time, or all but the
 * newest `keep_last`, or all. The last create_deployment_environment of a deployment stays. An execution also stays while its end
 * is still needed: by the execution that has started it, while that exists and may go on, or by operations that wait for it.
 * @throws AppError bad_parameters_error.
 */
export async function deleteExecutions(
  db: Db<DB>,
  principal: Principal,
  list: ListQuery,
  request: DeleteRequest,
  nowMs: number,
): Promise<ExecutionRow[]> {
  const keepLast = keepLastOf(request);
  const before = beforeOf(request, nowMs);
  for (const status of list.filters.status ?? []) {
    if (!ENDS.includes(status))
      throw badParameter('status', `Can't filter by execution status \`${status}\``, { expected: ENDS });
  }
  const ended = [executionScope(principal, list.allTenants), ...isOverFor(before)];
  const where = filteredExecutions(list, ended);
  return await db.tx(async (tx) => {
    const deleted: ExecutionRow[] = [];
    // Nested executions are deleted in the next round, when the executions that started them are gone.
    for (let rows: ExecutionRow[] | null = null; rows === null || rows.length > 0; deleted.push(...rows))
      rows = await deleteMatching(tx, where, keepLast ?? 0);
    return deleted;
  });
}

function keepLastOf(request: DeleteRequest): number | null {
  if (request.keep_last === undefined || request.keep_last === null) return null;
  const count = Number(request.keep_last);
  if (!Number.isInteger(count) || count <= 0) {
    throw badParameter('keep_last', `keep_last: ${request.keep_last} is no count`, {
      expected: 'an integer greater than 0',
    });
  }
  if (request.to_datetime)
    throw badParameter('keep_last', 'keep_last and to_datetime exclude each other', {});
  return count;
}

function beforeOf(request: DeleteRequest, nowMs: number): string | null {
  if (request.to_datetime === undefined || request.to_datetime === null) return null;
  return isoInstant(Math.min(Date.parse(readInstant('to_datetime', request.to_datetime)), nowMs));
}
