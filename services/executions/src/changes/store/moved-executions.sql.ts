import { type Db, globalText } from '@baton/postgres';
import { sql } from 'kysely';
import type { ExecutionRow } from '../../store/rows';
import type { DB } from '../../store/tables.gen';

/** The fields of a moved execution that are sent. */
export type MovedExecution = Pick<
  ExecutionRow,
  | 'id'
  | 'tenant'
  | 'visibility'
  | 'created_by'
  | 'created_at'
  | 'status'
  | 'version'
  | 'deployment_id'
  | 'workflow_id'
  | 'total_operations'
  | 'finished_operations'
>;

/** Returns the present rows of these executions: those of the tenants, and global ones. */
export async function movedExecutions(
  db: Pick<Db<DB>, 'query'>,
  ids: readonly string[],
  tenants: readonly string[],
): Promise<MovedExecution[]> {
  const { rows } = await sql<MovedExecution>`
    select id, tenant, visibility, created_by, created_at, status, version, deployment_id, workflow_id,
      total_operations, finished_operations
    from executions where id = any(${[...ids]}::uuid[])
      and (tenant = any(${[...tenants]}::text[]) or ${sql.raw(globalText())})`.execute(db.query);
  return rows;
}

/** Returns the ISO time of the database: a resource created after it is new to a reader that begins to listen now. */
export async function listeningSince(db: Pick<Db<DB>, 'query'>): Promise<string> {
  const { rows } = await sql<{ now: string }>`select app_now() as now`.execute(db.query);
  return rows[0]!.now;
}
