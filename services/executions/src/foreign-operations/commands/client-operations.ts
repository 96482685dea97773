import type { Principal } from '@baton/contracts';
import type { newOperation, newTasksGraph, operationChange } from '@baton/contracts/http/operations';
import { AppError, isUuid, newId, notFound } from '@baton/kernel';
import type { Tx } from '@baton/postgres';
import type { z } from 'zod';
import { type DeliverStatesDeps, deliverStates } from '../../engine/commands/deliver-states';
import { appendEvents } from '../../events/store/events.sql';
import { executionScope } from '../../executions/queries/list-executions';
import { visibleExecution } from '../../executions/queries/visible-execution';
import { lockExecution, updateExecution } from '../../executions/store/executions.sql';
import type { Ports } from '../../ports';
import type { ExecutionRow, NewEvent } from '../../store/rows';
import type { DB } from '../../store/tables.gen';
import { isCounted, isEnd, operationEvent } from '../domain/operation-event';
import {
  deleteClientOperation,
  findClientGraph,
  findClientOperation,
  insertClientGraph,
  insertClientOperations,
  insertClientState,
  lockClientOperation,
  type NewOperation,
  type OwnedOperation,
  setGraphState,
  updateClientOperation,
} from '../store/client-graphs.sql';

export type ClientOperationsDeps = Pick<Ports, 'db' | 'turns' | 'wake' | 'log'> & DeliverStatesDeps;

/** Returns an operation of a client; a user who may see its execution may see it. @throws AppError not_found_error */
export async function visibleOperation(
  deps: Pick<ClientOperationsDeps, 'db'>,
  principal: Principal,
  id: string,
): Promise<OwnedOperation> {
  const found = await findClientOperation(
    deps.db.query,
    principal.tenant,
    id,
    executionScope(principal, false),
  );
  if (!found) throw notFound('Operation', id);
  return found;
}

/**
 * Returns a graph of a client. Graphs of Baton's engine are not found here: a client may not write to them. @throws AppError
 * not_found_error
 */
export async function visibleGraph(deps: Pick<ClientOperationsDeps, 'db'>, principal: Principal, id: string) {
  const found = isUuid(id)
    ? await findClientGraph(deps.db.query, id, executionScope(principal, false))
    : null;
  if (!found) throw notFound('TasksGraph', id);
  return found;
}

/** POST /tasks_graphs: stores a graph and its operations at once. @throws AppError conflict_error */
export async function createGraph(
  deps: ClientOperationsDeps,
  principal: Principal,
  request: z.infer<typeof newTasksGraph>,
): Promise<string> {
  const { id: executionId } = await visibleExecution(deps.db.query, principal, request.execution_id);
  const id = request.graph_id ?? newId();
  const operations = (request.operations ?? []).map((operation) => ({
    ...operation,
    id: operation.id ?? newId(),
  }));
  await changeExecution(deps, executionId, async (tx, execution) => {
    const graph = { id, executionId, name: request.name, createdAt: request.created_at ?? null };
    if (!(await insertClientGraph(tx, graph)))
      throw new AppError('conflict_error', `The execution has a tasks graph called \`${request.name}\``);
    await addOperations(tx, execution, id, operations);
    return [];
  });
  return id;
}

/** PUT /operations/{id}. @throws AppError conflict_error */
export async function createOperation(
  deps: ClientOperationsDeps,
  principal: Principal,
  id: string,
  request: z.infer<typeof newOperation>,
): Promise<void> {
  const graph = await visibleGraph(deps, principal, request.graph_id);
  const { graph_id: _graph, ...operation } = request;
  await changeExecution(deps, graph.execution_id, async (tx, execution) => {
    await addOperations(tx, execution, graph.id, [{ ...operation, id }]);
    return [];
  });
}

async function addOperations(
  tx: Tx<DB>,
  execution: ExecutionRow,
  graphId: string,
  operations: readonly NewOperation[],
): Promise<void> {
  const graph = { tenant: execution.tenant, id: graphId, executionId: execution.id };
  const added = new Set(await insertClientOperations(tx, graph, operations));
  const taken = operations.find((operation) => !added.has(operation.id));
  if (taken) throw new AppError('conflict_error', `An operation with the id \`${taken.id}\` exists`);
  const counted = operations.filter((operation) => isCounted(operation.type));
  await updateExecution(tx, execution.id, {
    total_operations: (execution.total_operations ?? 0) + counted.length,
    finished_operations:
      (execution.finished_operations ?? 0) + counted.filter((operation) => isEnd(operation.state)).length,
  });
}

/** PATCH /operations/{id}: stores the given state, its event, the counters of the execution and the state of the node instance. */
export async function changeOperation(
  deps: ClientOperationsDeps,
  principal: Principal,
  id: string,
  change: z.infer<typeof operationChange>,
): Promise<void> {
  const seen = await visibleOperation(deps, principal, id);
  await changeExecution(deps, seen.execution_id, async (tx, execution) => {
    const operation = await lockClientOperation(tx, principal.tenant, id);
    if (!operation) throw notFound('Operation', id);
    const state = change.state ?? operation.state;
    const ends = isEnd(state) && !operation.is_counted;
    await updateClientOperation(tx, principal.tenant, id, {
      state,
      isCounted: operation.is_counted || isEnd(state),
      managerName: change.manager_name ?? null,
      agentName: change.agent_name ?? null,
    });
    if (ends && isCounted(operation.type))
      await updateExecution(tx, execution.id, {
        finished_operations: (execution.finished_operations ?? 0) + 1,
      });
    if (change.state === undefined) return [];
    if (state === 'succeeded' && operation.type === 'SetNodeInstanceStateTask')
      await setInstanceState(tx, execution, operation.parameters);
    const event = operationEvent(operation, state, change);
    return event ? [event] : [];
  });
  // Best effort and at once; the engine's loop delivers the rest.
  await deliverStates(deps, [seen.execution_id]).catch((error: Error) =>
    deps.log.warn({ executionId: seen.execution_id, error: error.message }, 'states not delivered'),
  );
}

/** Stores the state that a task sets; the arguments of such a task name the node instance and its new state. */
async function setInstanceState(
  tx: Tx<DB>,
  execution: ExecutionRow,
  parameters: Record<string, unknown>,
): Promise<void> {
  const kwargs = parameters.task_kwargs as Record<string, unknown> | undefined;
  const instance = kwargs?.node_instance_id;
  if (typeof instance !== 'string' || typeof kwargs?.state !== 'string') return;
  const seq = execution.last_state_seq + 1;
  await insertClientState(tx, execution.id, { seq, nodeInstanceId: instance, state: kwargs.state });
  // Raises the version too: a graph in memory does not know this state, and deletes states with numbers below its own.
  await updateExecution(tx, execution.id, { last_state_seq: seq, version: execution.version + 1 });
}

/** DELETE /operations/{id} */
export async function removeOperation(
  deps: ClientOperationsDeps,
  principal: Principal,
  id: string,
): Promise<void> {
  await visibleOperation(deps, principal, id);
  if (!(await deps.db.tx((tx) => deleteClientOperation(tx, principal.tenant, id))))
    throw notFound('Operation', id);
}

/** PATCH /tasks_graphs/{id} */
export async function changeGraph(
  deps: ClientOperationsDeps,
  principal: Principal,
  id: string,
  state: string,
): Promise<void> {
  const graph = await visibleGraph(deps, principal, id);
  await deps.db.tx((tx) => setGraphState(tx, graph.id, state));
}

/** Runs `change` under the lock of the execution, and stores the events that it returns. */
async function changeExecution(
  deps: ClientOperationsDeps,
  id: string,
  change: (tx: Tx<DB>, execution: ExecutionRow) => Promise<NewEvent[]>,
): Promise<void> {
  const hasEvents = await deps.turns.take(id, () =>
    deps.db.tx(async (tx) => {
      const execution = await lockExecution(tx, id);
      if (!execution) throw notFound('Execution', id);
      const events = await change(tx, execution);
      if (events.length === 0) return false;
      const lastSeq = await appendEvents(tx, execution, events);
      await updateExecution(tx, id, { last_event_seq: lastSeq });
      return true;
    }),
  );
  if (hasEvents) deps.wake.events(id);
}
