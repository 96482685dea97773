import { addressOfWorker } from '@baton/contracts';
import { isoInstant, notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import type { OperationPayload, TaskSpec } from '@baton/task-graph';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionRow, StoredTask } from '../../store/rows';
import { taskIdOf, UNTOUCHED } from '../store/task-document';
import { readGraphView, type TaskGlance, type TaskView } from '../store/task-views.sql';
import type { GraphTasks } from '../store/tasks.sql';

type Owner = Pick<ExecutionRow, 'tenant' | 'visibility' | 'created_by'>;

/** Settings of the API in use for the presentation of operations. */
export interface Shown {
  managerName: string;
  /** Returns the value of an operation's `on_failure`: its failure handler. */
  onFailure(spec: StoredTask['spec']): unknown;
  /** Whether an operation has separate fields for its run times and its node instance. */
  showsRuns: boolean;
}

interface OperationFilter {
  /** A UUID. */
  operationId?: string;
  graphId?: string;
  executionId?: string;
  states: string[];
  skipInternal: boolean;
}

/** SQL condition: `g` is the graph of this task. A task without a row has an id that begins like the id of its graph. */
const graphOfTask = (id: string): RawBuilder<SqlBool> =>
  sql`(g.id = (select t.graph_id from tasks t where t.id = ${id}::uuid)
    or g.id between ${taskIdOf(id, 0)}::uuid and ${taskIdOf(id, 0xffffffff)}::uuid)`;

/** Returns stored operations in the form of the REST API (reference/rest-api.md 5.17, workflows.md 2.7), by graph and number. */
export async function listOperations(
  db: AnyQuery,
  filter: OperationFilter,
  scope: RawBuilder<SqlBool>,
  shown: Shown,
) {
  const where = [scope];
  if (filter.operationId !== undefined) where.push(graphOfTask(filter.operationId));
  if (filter.graphId !== undefined) where.push(sql`g.id::text = ${filter.graphId}`);
  if (filter.executionId !== undefined) where.push(sql`e.id::text = ${filter.executionId}`);
  const { rows: graphs } = await sql<GraphTasks & Owner & { hasEnded: boolean }>`
    select g.id, g.format, g.execution_id, g.created_at, g.tasks, g.flags->>'ended' is not null as "hasEnded", e.tenant,
      e.visibility, e.created_by
    from tasks_graphs g join executions e on e.id = g.execution_id
    where ${sql.join(where, sql` and `)} order by g.id`.execute(db);
  const operations = [];
  for (const graph of graphs) {
    const view = await readGraphView(db, graph, { since: null });
    for (let idx = 0; idx < view.length; idx++) {
      const task = shownTask(view.task(idx), graph.hasEnded);
      if (isShownWhole(task) && isListed(task, filter))
        operations.push(presentOperation(task, view.idOf, graph, shown));
    }
  }
  return operations;
}

/** Checks that the caller sees this graph, which the engine or a client has made. @throws AppError not_found_error */
export async function requireGraph(db: AnyQuery, scope: RawBuilder<SqlBool>, id: string): Promise<void> {
  const { rows } = await sql`
    select 1 from tasks_graphs g join executions e on e.id = g.execution_id where g.id::text = ${id} and ${scope}
    union all
    select 1 from client_graphs g join executions e on e.id = g.execution_id where g.id::text = ${id} and ${scope}
    limit 1`.execute(db);
  if (rows.length === 0) throw notFound('TasksGraph', id);
}

/** Returns the operations of a graph that is not stored: their ids are valid only within this list. */
export function plannedOperations(tasks: readonly TaskSpec[], owner: Owner, shown: Shown) {
  const known = new Set(tasks.map(({ idx }) => idx));
  const idOf = (idx: number) => (known.has(idx) ? String(idx) : null);
  return tasks.map((task) => {
    const { idx, ...spec } = task;
    const row = {
      ...UNTOUCHED,
      started_at: null,
      ended_at: null,
      id: String(idx),
      graph_id: null,
      created_at: null,
      idx,
      spec: spec as StoredTask['spec'],
    };
    return presentOperation(row, idOf, owner, shown);
  });
}

/** A task that was read whole, with its specification. */
export type WholeTask = TaskView & Pick<StoredTask, 'spec'>;
export const isShownWhole = (task: TaskView): task is WholeTask => task.spec !== null;

function isListed(task: WholeTask, filter: OperationFilter): boolean {
  if (filter.operationId !== undefined && task.id !== filter.operationId) return false;
  if (filter.states.length > 0 && !filter.states.includes(task.state)) return false;
  if (filter.skipInternal && !EXTERNAL_TYPES.has(task.spec.type)) return false;
  // Workflow code is in the graph only to have a lease; it is no operation of the execution.
  return !task.isCode;
}

/**
 * Returns a task with the state to show. A task that waits without a worker is shown as started: clients know no other state for
 * that. When its graph has ended, no task waits, and none is tried again.
 */
export function shownTask<T extends TaskGlance>(task: T, hasEnded: boolean): T {
  const { state, deferral, not_before } = task;
  if (hasEnded) return { ...task, not_before: null };
  const isWaiting = state === 'pending' && deferral !== null && not_before !== null;
  return isWaiting ? { ...task, state: 'started' } : task;
}

const EXTERNAL_TYPES = new Set(['RemoteWorkflowTask', 'SubgraphTask']);

/** Returns the fields of the execution that graphs and operations show. */
export function ownership({ tenant, visibility, created_by }: Owner) {
  return {
    tenant_name: tenant,
    created_by,
    visibility,
    private_resource: visibility === 'private',
    resource_availability: visibility,
  };
}

/** Seconds between the runs of a subgraph. The original shows this value also for a subgraph with only one run. */
const SUBGRAPH_INTERVAL_S = 30;

type ShownTask = Pick<
  WholeTask,
  | 'state'
  | 'spec'
  | 'id'
  | 'attempt'
  | 'retries'
  | 'not_before'
  | 'deferral'
  | 'error'
  | 'worker_id'
  | 'started_at'
  | 'ended_at'
> & { graph_id: string | null; created_at: string | null };

export function presentOperation<T extends ShownTask>(
  row: T,
  idAt: (idx: number) => string | null,
  owner: Owner,
  { onFailure, managerName, showsRuns }: Shown,
) {
  const { policy, payload, name, type, deps, subgraph, retryOf } = row.spec;
  const idOf = (idx: number | null) => (idx === null ? null : idAt(idx));
  const isSubgraph = type === 'SubgraphTask';
  return {
    id: row.id,
    name,
    state: row.state,
    created_at: row.created_at as T['created_at'],
    dependencies: [...deps].sort((a, b) => a - b).flatMap((idx) => idAt(idx) ?? []),
    type,
    parameters: {
      on_success: policy.onSuccess,
      on_failure: onFailure(row.spec),
      retried_task: idOf(retryOf),
      current_retries: row.retries,
      send_task_events: policy.sendTaskEvents,
      retry_interval: isSubgraph ? SUBGRAPH_INTERVAL_S : policy.retryIntervalMs / 1000,
      total_retries: policy.totalRetries,
      info: isSubgraph ? { name } : null,
      error: row.error,
      containing_subgraph: idOf(subgraph),
      task_kwargs: payload,
    },
    tasks_graph: row.graph_id as T['graph_id'],
    tasks_graph_id: row.graph_id as T['graph_id'],
    manager_name: row.state === 'pending' ? null : managerName,
    agent_name: nameOfWorker(row),
    ...ownership(owner),
    ...(showsRuns ? { ...runOf(row), subgraph_id: idOf(subgraph) } : {}),
  };
}

/**
 * Returns the times of a task's present attempt, and its node and node instance; null where a value is not known or does not apply.
 * A retry is a task of its own: it has the time when it is due, and its `retried_task` is the task before it.
 */
function runOf({ state, spec, attempt, not_before, deferral, error, started_at, ended_at }: ShownTask) {
  const isRetry = state === 'pending' && not_before !== null && deferral === null;
  const about = spec.payload as { nodeInstanceId?: unknown; nodeId?: unknown };
  const operation = spec.kind === 'operation' ? (spec.payload as unknown as OperationPayload) : null;
  return {
    started_at,
    ended_at,
    attempt: spec.kind === 'operation' ? attempt : null,
    next_retry_at: isRetry ? isoInstant(not_before) : null,
    error: error && { type: error.type, message: error.message, recoverable: error.recoverable },
    node_instance_id: textOrNull(about.nodeInstanceId),
    node_id: textOrNull(about.nodeId),
    operation: operation?.operation || null,
    source_id: operation?.relationship?.sourceId ?? null,
    target_id: operation?.relationship?.targetId ?? null,
  };
}

/** Returns the id of a worker, or the name of an agent, which is what people know it by. */
function nameOfWorker({ worker_id, spec }: ShownTask): string | null {
  const address = worker_id === null ? null : addressOfWorker(worker_id);
  if (address === null) return worker_id;
  const name =
    spec.kind === 'operation' ? (spec.payload as unknown as OperationPayload).agentName : undefined;
  return name ?? address.slice(address.indexOf('/') + 1);
}

/** Workflow code sets the payload of its local tasks, so a field may have any type. */
const textOrNull = (value: unknown): string | null => (typeof value === 'string' ? value : null);
