import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import type { StoredGraph } from '../../store/rows';

export type GraphHead = Omit<StoredGraph, 'tasks'> & { hasDocument: boolean };

/** Returns the graphs of an execution without their tasks, oldest first. */
export async function graphsOfExecution(reader: AnyQuery, executionId: string): Promise<GraphHead[]> {
  const { rows } = await sql<GraphHead>`
    select id, format, execution_id, name, created_at, wait_after_fail_ms, is_dry_run, flags, tasks is not null as "hasDocument"
    from tasks_graphs
    where execution_id = ${executionId} order by created_at, id`.execute(reader);
  return rows;
}
