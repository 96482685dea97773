import type { ListQuery, Principal } from '@baton/contracts';
import { badParameter, isoInstant, readInstant } from '@baton/kernel';
import type { Db, Tx } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { awaitedIds } from '../../store/waiting-task';
import { executionScope, filteredExecutions } from '../queries/list-executions';

const ENDS = ['terminated', 'failed', 'cancelled'];

export interface DeleteRequest {
  to_datetime?: string | null;
  keep_last?: number | string | null;
}

/**
 * Deletes ended executions with their graphs and events (reference/rest-api.md 5.7): those before a time, or all but the
 * newest `keep_last`, or all. The last create_deployment_environment of a deployment stays, and what somebody has yet to hear
 * the end of: the execution that has started it, as long as that is there and may go on, and operations that wait for it.
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
  // One whose end deployments has not heard yet is needed for that.
  const isOver = sql<SqlBool>`e.phase = 'ended' and e.wake_at is null`;
  const ended = [executionScope(principal, list.allTenants), isOver];
  const where: RawBuilder<SqlBool>[] = [filteredExecutions(list, ended)];
  if (before !== null) where.push(sql`e.created_at < ${before}`);
  return await db.tx(async (tx) => {
    const deleted: ExecutionRow[] = [];
    // Those that others have started go with the next round, when those are gone.
    for (let rows: ExecutionRow[] | null = null; rows === null || rows.length > 0; deleted.push(...rows))
      rows = await deleteMatching(tx, where, keepLast ?? 0);
    return deleted;
  });
}

async function deleteMatching(
  tx: Tx<DB>,
  where: readonly RawBuilder<SqlBool>[],
  keepLast: number,
): Promise<ExecutionRow[]> {
  // Those that stay anyhow are among the last ones kept: the oldest of the others go until so many are left.
  const { rows } = await sql<ExecutionRow>`
      with matched as (
        select e.id, e.created_at, ((e.workflow_id = 'create_deployment_environment' and e.status = 'terminated' and not exists (
          select 1 from executions l where l.tenant = e.tenant and l.deployment_id = e.deployment_id
            and l.workflow_id = e.workflow_id and l.status = 'terminated' and l.created_at > e.created_at))
          or exists (select 1 from executions p where p.id = e.parent_id and p.status <> 'terminated')
          or e.id in ${awaitedIds}) as is_kept
        from executions e where ${sql.join(where, sql` and `)}
      ), placed as (
        select id, is_kept, row_number() over (order by is_kept, created_at, id) as place, count(*) over () as total from matched
      )
      delete from executions d using placed p
      where d.id = p.id and not p.is_kept and p.place <= p.total - ${keepLast}
      returning d.*`.execute(tx);
  await sql`delete from events where execution_id = any(${rows.map((row) => row.id)}::uuid[])`.execute(tx);
  return rows;
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
