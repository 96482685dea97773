import type { Db } from '@baton/postgres';
import { sql } from 'kysely';
import type { DB } from '../../store/tables.gen';

export interface UnfinishedExecution {
  id: string;
  status: string;
  deploymentId: string;
  workflowId: string;
}

/**
 * Returns the running executions of every tenant, oldest first, at most `limit`, and their total number.
 * Executions that wait for their turn or their time do not count: in maintenance no further one begins.
 */
export async function unfinishedExecutions(
  reader: Db<DB>['query'],
  limit: number,
): Promise<{ executions: UnfinishedExecution[]; total: number }> {
  const [listed, counted] = await Promise.all([
    sql<UnfinishedExecution>`
      select id, status, coalesce(deployment_id, '') as "deploymentId", workflow_id as "workflowId"
      from executions where phase not in ('ended', 'waiting')
      order by created_at, id limit ${limit}`.execute(reader),
    sql<{ total: number }>`
      select count(*) as total from executions where phase not in ('ended', 'waiting')`.execute(reader),
  ]);
  return { executions: listed.rows, total: counted.rows[0]!.total };
}
