import type { AnyQuery, AnyTx } from '@baton/postgres';
import { sql } from 'kysely';

/** An operation that a worker still runs although its execution has ended. */
export interface LeftRun {
  execution_id: string;
  workflow_id: string;
  task_id: string;
  /** Null for the code of a workflow. */
  operation: string | null;
  node_instance_id: string | null;
  worker_id: string;
  /** End of the lease: the worker loses the operation then, unless it renews the lease. */
  lease_until: string | null;
  /** Whether its worker was told to stop it. */
  is_stopping: boolean;
}

const MOST = 20;

/**
 * Returns operations of a deployment's ended executions that workers still run; `except` is left out. The mark on an execution is
 * found by an index that is nearly empty; the mark may be out of date, so the leases decide.
 */
export async function leftRuns(
  reader: AnyQuery | AnyTx,
  tenant: string,
  deploymentId: string,
  except: string | null = null,
): Promise<LeftRun[]> {
  const { rows } = await sql<LeftRun>`
    select e.id as execution_id, e.workflow_id, t.id as task_id, t.spec->'payload'->>'operation' as operation,
      t.spec->'payload'->>'nodeInstanceId' as node_instance_id, t.worker_id, t.lease_until,
      t.is_kill_requested as is_stopping
    from executions e join tasks t on t.execution_id = e.id
    where e.tenant = ${tenant} and e.deployment_id = ${deploymentId} and e.has_left_runs and e.phase = 'ended'
      and e.id is distinct from ${except}::uuid and t.worker_id is not null and t.state in ('sent', 'started')
    order by t.lease_until, t.id limit ${MOST}`.execute(reader);
  return rows;
}
