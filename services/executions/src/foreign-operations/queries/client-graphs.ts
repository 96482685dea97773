import type { AnyQuery } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type ClientGraph, OPERATION_FIELDS, type OwnedOperation } from '../store/client-graphs.sql';

/** Returns the graphs that clients store for an execution, oldest first. */
export async function clientGraphsOf(db: AnyQuery, executionId: string): Promise<ClientGraph[]> {
  const { rows } = await sql<ClientGraph>`
    select id, execution_id, name, created_at from client_graphs where execution_id = ${executionId}
    order by created_at, id`.execute(db);
  return rows;
}

/** Returns the operations that clients store, by graph and position; `scope` reads `executions e`. */
export async function listClientOperations(
  db: AnyQuery,
  filter: { graphId?: string; executionId?: string; states: string[]; skipInternal: boolean },
  scope: RawBuilder<SqlBool>,
): Promise<OwnedOperation[]> {
  const where = [scope];
  if (filter.graphId !== undefined) where.push(sql`o.graph_id::text = ${filter.graphId}`);
  if (filter.executionId !== undefined) where.push(sql`o.execution_id::text = ${filter.executionId}`);
  if (filter.states.length > 0) where.push(sql`o.state = any(${filter.states}::text[])`);
  if (filter.skipInternal) where.push(sql`o.type in ('RemoteWorkflowTask', 'SubgraphTask')`);
  const { rows } = await sql<OwnedOperation>`
    select ${OPERATION_FIELDS} from client_operations o join executions e on e.id = o.execution_id
    where ${sql.join(where, sql` and `)} order by o.graph_id, o.position`.execute(db);
  return rows;
}
