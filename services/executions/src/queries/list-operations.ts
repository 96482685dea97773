import type { AnyQuery } from '@baton/postgres';
import type { SubgraphPayload, TaskSpec } from '@baton/task-graph';
import { type RawBuilder, type SqlBool, sql } from 'kysely';

interface OperationRow {
  id: string;
  graph_id: string;
  idx: number;
  spec: Omit<TaskSpec, 'idx'>;
  state: string;
  retries: number;
  error: unknown;
  worker_id: string | null;
  created_at: string;
  tenant: string;
  visibility: string;
  created_by: string;
  dep_ids: string[];
  subgraph_id: string | null;
  retried_id: string | null;
}

/** Stored operations in the shape of REST (reference/rest-api.md 5.17, workflows.md 2.7). */
export async function listOperations(
  db: AnyQuery,
  filter: { graphId?: string; executionId?: string; states: string[]; skipInternal: boolean },
  scope: RawBuilder<SqlBool>,
  shown: { wire: 'spec' | 'cloudify'; managerName: string },
) {
  // Workflow code stands in the graph for its lease; it is no operation of the execution.
  const where = [scope, sql<SqlBool>`not t.spec->'payload' ? 'isWorkflowCode'`];
  if (filter.graphId !== undefined) where.push(sql`t.graph_id::text = ${filter.graphId}`);
  if (filter.executionId !== undefined) where.push(sql`t.execution_id::text = ${filter.executionId}`);
  if (filter.states.length > 0) where.push(sql`t.state = any(${filter.states}::text[])`);
  if (filter.skipInternal) where.push(sql`t.spec->>'type' in ('RemoteWorkflowTask', 'SubgraphTask')`);
  const { rows } = await sql<OperationRow>`
    select t.id, t.graph_id, t.idx, t.spec, t.state, t.retries, t.error, t.worker_id, t.created_at, e.tenant, e.visibility, e.created_by,
      array(select d.id from tasks d where d.graph_id = t.graph_id
        and d.idx in (select x::int from jsonb_array_elements_text(t.spec->'deps') x) order by d.idx) as dep_ids,
      (select d.id from tasks d where d.graph_id = t.graph_id and d.idx = (t.spec->>'subgraph')::int) as subgraph_id,
      (select d.id from tasks d where d.graph_id = t.graph_id and d.idx = (t.spec->>'retryOf')::int) as retried_id
    from tasks t join executions e on e.id = t.execution_id
    where ${sql.join(where, sql` and `)} order by t.graph_id, t.idx`.execute(db);
  return rows.map((row) => presentOperation(row, shown));
}

/** What graphs and operations show of their execution. */
export function ownership({
  tenant,
  visibility,
  created_by,
}: Pick<OperationRow, 'tenant' | 'visibility' | 'created_by'>) {
  return {
    tenant_name: tenant,
    created_by,
    visibility,
    private_resource: visibility === 'private',
    resource_availability: visibility,
  };
}

/** What the original's lifecycles keep with the subgraph of an instance: what runs when it has failed and is tried again. */
function lifecycleHandler({ name, payload, subgraph }: OperationRow['spec']) {
  const { nodeInstanceId } = payload as unknown as SubgraphPayload;
  if (nodeInstanceId === null || subgraph !== null || name.startsWith('stub_')) return null;
  return {
    path: 'cloudify.plugins.lifecycle._SubgraphOnFailure',
    instance_id: nodeInstanceId,
    on_retry: name.startsWith('install_') ? 'reinstall' : 'uninstall',
  };
}

/** Seconds between the runs of a subgraph, which the original shows also where there is only one. */
const SUBGRAPH_INTERVAL_S = 30;

function presentOperation(
  row: OperationRow,
  { wire, managerName }: { wire: 'spec' | 'cloudify'; managerName: string },
) {
  const { policy, payload, name, type } = row.spec;
  const isSubgraph = type === 'SubgraphTask';
  return {
    id: row.id,
    name,
    state: row.state,
    created_at: row.created_at,
    dependencies: row.dep_ids,
    type,
    parameters: {
      on_success: policy.onSuccess,
      on_failure: wire === 'cloudify' && isSubgraph ? lifecycleHandler(row.spec) : policy.onFailure,
      retried_task: row.retried_id,
      current_retries: row.retries,
      send_task_events: policy.sendTaskEvents,
      retry_interval: isSubgraph ? SUBGRAPH_INTERVAL_S : policy.retryIntervalMs / 1000,
      total_retries: policy.totalRetries,
      info: isSubgraph ? { name } : null,
      error: row.error,
      containing_subgraph: row.subgraph_id,
      task_kwargs: payload,
    },
    tasks_graph: row.graph_id,
    tasks_graph_id: row.graph_id,
    manager_name: row.state === 'pending' ? null : managerName,
    agent_name: row.worker_id,
    ...ownership(row),
  };
}
