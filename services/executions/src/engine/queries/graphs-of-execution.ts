import type { AnyQuery } from '@baton/postgres';
import { sql } from 'kysely';
import type { StoredGraph } from '../../store/rows';

/** Graphs of an execution without their tasks, oldest first. */
export async function graphsOfExecution(
  reader: AnyQuery,
  executionId: string,
): Promise<Omit<StoredGraph, 'tasks'>[]> {
  const { rows } = await sql<Omit<StoredGraph, 'tasks'>>`
    select id, execution_id, name, created_at, wait_after_fail_ms, is_dry_run, flags from tasks_graphs
    where execution_id = ${executionId} order by created_at, id`.execute(reader);
  return rows;
}
