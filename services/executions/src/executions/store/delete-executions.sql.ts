import type { Tx } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { awaitedIds } from '../../store/waiting-task';
import { noteDeleted } from './executions.sql';

/** SQL conditions: ended, heard by deployments (which needs the row until then), and made before `before` (ISO 8601). */
export const isOverFor = (before: string | null): RawBuilder<SqlBool>[] => [
  sql<SqlBool>`e.phase = 'ended' and e.wake_at is null`,
  ...(before === null ? [] : [sql<SqlBool>`e.created_at < ${before}`]),
];

/** Deletes, in one round, executions `e` matching `where` that nobody needs, except the newest `keepLast`; with their events. */
export async function deleteMatching(
  tx: Tx<DB>,
  where: RawBuilder<SqlBool>,
  keepLast: number,
): Promise<ExecutionRow[]> {
  // Executions that stay in any case count as kept ones: the oldest of the others are deleted until `keepLast` are left.
  const { rows } = await sql<ExecutionRow>`
      with matched as (
        select e.id, e.created_at, ((e.workflow_id = 'create_deployment_environment' and e.status = 'terminated' and not exists (
          select 1 from executions l where l.tenant = e.tenant and l.deployment_id = e.deployment_id
            and l.workflow_id = e.workflow_id and l.status = 'terminated' and l.created_at > e.created_at))
          or exists (select 1 from executions p where p.id = e.parent_id and p.status <> 'terminated')
          or e.id in ${awaitedIds}) as is_kept
        from executions e where ${where}
      ), placed as (
        select id, is_kept, row_number() over (order by is_kept, created_at, id) as place, count(*) over () as total from matched
      )
      delete from executions d using placed p
      where d.id = p.id and not p.is_kept and p.place <= p.total - ${keepLast}
      returning d.*`.execute(tx);
  await sql`delete from events where execution_id = any(${rows.map((row) => row.id)}::uuid[])`.execute(tx);
  noteDeleted(tx, rows);
  return rows;
}
