import type { AnyQuery, Tx } from '@baton/postgres';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { DB } from '../../store/tables.gen';

export interface ClientOperation {
  id: string;
  graph_id: string;
  execution_id: string;
  name: string;
  type: string;
  state: string;
  dependencies: string[];
  parameters: Record<string, unknown>;
  manager_name: string | null;
  agent_name: string | null;
  is_counted: boolean;
  created_at: string;
}
export type NewOperation = Pick<
  ClientOperation,
  'id' | 'name' | 'type' | 'state' | 'dependencies' | 'parameters'
>;

export interface ClientGraph {
  id: string;
  execution_id: string;
  name: string;
  created_at: string;
}

/** An operation with the fields of its execution that it shows. */
export interface OwnedOperation extends ClientOperation {
  tenant: string;
  visibility: string;
  created_by: string;
}

/** Inserts a graph. Null when the execution has a graph of this name, or the id is taken. */
export async function insertClientGraph(
  tx: Tx<DB>,
  graph: { id: string; executionId: string; name: string; createdAt: string | null },
): Promise<ClientGraph | null> {
  const { rows } = await sql<ClientGraph>`
    insert into client_graphs (id, execution_id, name, created_at)
    values (${graph.id}, ${graph.executionId}, ${graph.name}, coalesce(${graph.createdAt}::timestamptz, app_now()))
    on conflict do nothing returning id, execution_id, name, created_at`.execute(tx);
  return rows[0] ?? null;
}

export async function setGraphState(tx: Tx<DB>, id: string, state: string): Promise<void> {
  await sql`update client_graphs set state = ${state} where id = ${id}`.execute(tx);
}

export async function findClientGraph(
  db: AnyQuery,
  id: string,
  scope: RawBuilder<SqlBool>,
): Promise<(ClientGraph & { tenant: string; visibility: string; created_by: string }) | null> {
  const { rows } = await sql<ClientGraph & { tenant: string; visibility: string; created_by: string }>`
    select g.id, g.execution_id, g.name, g.created_at, e.tenant, e.visibility, e.created_by
    from client_graphs g join executions e on e.id = g.execution_id where g.id = ${id} and ${scope}`.execute(
    db,
  );
  return rows[0] ?? null;
}

/** Inserts operations; returns the new ids, without those that were taken already. */
export async function insertClientOperations(
  tx: Tx<DB>,
  graph: { tenant: string; id: string; executionId: string },
  operations: readonly NewOperation[],
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into client_operations (tenant, id, graph_id, execution_id, name, type, state, dependencies, parameters)
    select ${graph.tenant}, o.id, ${graph.id}::uuid, ${graph.executionId}::uuid, o.name, o.type, o.state, o.dependencies, o.parameters
    from jsonb_to_recordset(${JSON.stringify(operations)}::jsonb)
      as o(id text, name text, type text, state text, dependencies jsonb, parameters jsonb)
    on conflict do nothing returning id`.execute(tx);
  return rows.map((row) => row.id);
}

/** Columns of an operation and of its execution; aliases `client_operations o`, `executions e`. */
export const OPERATION_FIELDS = sql`o.id, o.graph_id, o.execution_id, o.name, o.type, o.state, o.dependencies, o.parameters, o.manager_name,
  o.agent_name, o.is_counted, o.created_at, e.tenant, e.visibility, e.created_by`;

/** Returns one operation of the caller's tenant that the caller may see; null when there is none. `scope` reads `executions e`. */
export async function findClientOperation(
  db: AnyQuery,
  tenant: string,
  id: string,
  scope: RawBuilder<SqlBool>,
): Promise<OwnedOperation | null> {
  const { rows } = await sql<OwnedOperation>`
    select ${OPERATION_FIELDS} from client_operations o join executions e on e.id = o.execution_id
    where o.tenant = ${tenant} and o.id = ${id} and ${scope}`.execute(db);
  return rows[0] ?? null;
}

/** Locks the row for this transaction and returns it; null when it does not exist. */
export async function lockClientOperation(
  tx: Tx<DB>,
  tenant: string,
  id: string,
): Promise<ClientOperation | null> {
  const { rows } = await sql<ClientOperation>`
    select * from client_operations where tenant = ${tenant} and id = ${id} for update`.execute(tx);
  return rows[0] ?? null;
}

export async function updateClientOperation(
  tx: Tx<DB>,
  tenant: string,
  id: string,
  change: { state: string; isCounted: boolean; managerName: string | null; agentName: string | null },
): Promise<void> {
  await sql`
    update client_operations set state = ${change.state}, is_counted = ${change.isCounted},
      manager_name = coalesce(${change.managerName}, manager_name), agent_name = coalesce(${change.agentName}, agent_name)
    where tenant = ${tenant} and id = ${id}`.execute(tx);
}

export async function deleteClientOperation(tx: Tx<DB>, tenant: string, id: string): Promise<boolean> {
  const { rows } = await sql`
    delete from client_operations where tenant = ${tenant} and id = ${id} returning id`.execute(tx);
  return rows.length > 0;
}

/**
 * Inserts a node-instance state after the last one of the execution; it is delivered to deployments like the states of the
 * engine.
 */
export async function insertClientState(
  tx: Tx<DB>,
  executionId: string,
  state: { seq: number; nodeInstanceId: string; state: string },
): Promise<void> {
  await sql`
    insert into instance_states (execution_id, seq, node_instance_id, state)
    values (${executionId}, ${state.seq}, ${state.nodeInstanceId}, ${state.state})`.execute(tx);
}

/**
 * Changes the inputs of the operations of a node that may still run, in all executions of the deployment that have not ended or
 * may be resumed; `scope` reads `executions e`. Returns the number of changed operations.
 */
export async function updateStoredInputs(
  tx: Tx<DB>,
  of: { tenant: string; deploymentId: string; nodeId: string; operation: string },
  inputs: Record<string, unknown>,
  scope: RawBuilder<SqlBool>,
): Promise<number> {
  const kwargs = sql`'{task_kwargs,kwargs}'::text[]`;
  const context = sql`'{task_kwargs,kwargs,__cloudify_context}'::text[]`;
  const done = await sql`
    update client_operations o set parameters = jsonb_set(
      jsonb_set(o.parameters, ${kwargs}, (o.parameters #> ${kwargs}) || ${JSON.stringify(inputs)}::jsonb),
      ${context}, (o.parameters #> ${context}) || '{"has_intrinsic_functions": true}')
    from executions e
    where e.id = o.execution_id and e.tenant = ${of.tenant} and e.deployment_id = ${of.deploymentId}
      and e.status in ('pending', 'started', 'cancelled', 'failed') and o.state in ('pending', 'rescheduled', 'failed')
      and o.parameters #>> '{task_kwargs,kwargs,__cloudify_context,node_name}' = ${of.nodeId}
      and o.parameters #>> '{task_kwargs,kwargs,__cloudify_context,operation,name}' = ${of.operation}
      and ${scope}`.execute(tx);
  return Number(done.numAffectedRows ?? 0n);
}
