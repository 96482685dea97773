import { notFound } from '@baton/kernel';
import type { AnyQuery } from '@baton/postgres';
import type { TaskSpec } from '@baton/task-graph';
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { ExecutionRow, StoredTask } from '../../store/rows';
import { taskIdOf, UNTOUCHED } from '../store/task-document';
import { type GraphTasks, readTasks } from '../store/tasks.sql';

type Owner = Pick<ExecutionRow, 'tenant' | 'visibility' | 'created_by'>;

/** How the caller's manager shows operations. */
export interface Shown {
  managerName: string;
  /** What an operation says of its handler of failures. */
  onFailure(spec: StoredTask['spec']): unknown;
}

interface OperationFilter {
  /** A UUID. */
  operationId?: string;
  graphId?: string;
  executionId?: string;
  states: string[];
  skipInternal: boolean;
}

/** A task has a row, or only a place in its graph's document: its id then begins like that of the graph. */
const graphOfTask = (id: string): RawBuilder<SqlBool> =>
  sql`(g.id = (select t.graph_id from tasks t where t.id = ${id}::uuid)
    or g.id between ${taskIdOf(id, 0)}::uuid and ${taskIdOf(id, 0xffffffff)}::uuid)`;

/** Stored operations in the shape of REST (reference/rest-api.md 5.17, workflows.md 2.7), by graph and number. */
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
    const { tasks } = await readTasks(db, graph, { withResults: false });
    const ids = new Map(tasks.map((task) => [task.idx, task.id]));
    for (const stored of tasks) {
      const task = { ...stored, state: shownState(stored, graph.hasEnded) };
      if (isListed(task, filter)) operations.push(presentOperation(task, ids, graph, shown));
    }
  }
  return operations;
}

/** A graph of ours or of a client that the caller sees. @throws AppError not_found_error */
export async function requireGraph(db: AnyQuery, scope: RawBuilder<SqlBool>, id: string): Promise<void> {
  const { rows } = await sql`
    select 1 from tasks_graphs g join executions e on e.id = g.execution_id where g.id::text = ${id} and ${scope}
    union all
    select 1 from client_graphs g join executions e on e.id = g.execution_id where g.id::text = ${id} and ${scope}
    limit 1`.execute(db);
  if (rows.length === 0) throw notFound('TasksGraph', id);
}

/** Operations of a graph that is not stored: their ids hold among themselves only. */
export function plannedOperations(tasks: readonly TaskSpec[], owner: Owner, shown: Shown) {
  const ids = new Map(tasks.map(({ idx }) => [idx, String(idx)]));
  return tasks.map((task) => {
    const { idx, ...spec } = task;
    const row = {
      ...UNTOUCHED,
      id: String(idx),
      graph_id: null,
      created_at: null,
      idx,
      spec: spec as StoredTask['spec'],
    };
    return presentOperation(row, ids, owner, shown);
  });
}

function isListed(task: StoredTask, filter: OperationFilter): boolean {
  if (filter.operationId !== undefined && task.id !== filter.operationId) return false;
  if (filter.states.length > 0 && !filter.states.includes(task.state)) return false;
  if (filter.skipInternal && !EXTERNAL_TYPES.has(task.spec.type)) return false;
  // Workflow code stands in the graph for its lease; it is no operation of the execution.
  return !('isWorkflowCode' in task.spec.payload);
}

/** One that waits without a worker has begun: clients know no other state for that. When its graph has ended, nobody waits. */
function shownState(task: StoredTask, hasEnded: boolean): StoredTask['state'] {
  const { state, deferral, not_before } = task;
  const isWaiting = state === 'pending' && deferral !== null && not_before !== null;
  return isWaiting && !hasEnded ? 'started' : state;
}

const EXTERNAL_TYPES = new Set(['RemoteWorkflowTask', 'SubgraphTask']);

/** What graphs and operations show of their execution. */
export function ownership({ tenant, visibility, created_by }: Owner) {
  return {
    tenant_name: tenant,
    created_by,
    visibility,
    private_resource: visibility === 'private',
    resource_availability: visibility,
  };
}

/** Seconds between the runs of a subgraph, which the original shows also where there is only one. */
const SUBGRAPH_INTERVAL_S = 30;

type ShownTask = Pick<StoredTask, 'state' | 'spec' | 'id' | 'retries' | 'error' | 'worker_id'> & {
  graph_id: string | null;
  created_at: string | null;
};

function presentOperation<T extends ShownTask>(
  row: T,
  ids: ReadonlyMap<number, string>,
  owner: Owner,
  { onFailure, managerName }: Shown,
) {
  const { policy, payload, name, type, deps, subgraph, retryOf } = row.spec;
  const idOf = (idx: number | null) => (idx === null ? null : (ids.get(idx) ?? null));
  const isSubgraph = type === 'SubgraphTask';
  return {
    id: row.id,
    name,
    state: row.state,
    created_at: row.created_at as T['created_at'],
    dependencies: [...deps].sort((a, b) => a - b).flatMap((idx) => ids.get(idx) ?? []),
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
    agent_name: row.worker_id,
    ...ownership(owner),
  };
}
