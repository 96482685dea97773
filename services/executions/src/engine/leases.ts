import type { executionsRpc } from '@baton/contracts';
import type { Tx } from '@baton/postgres';
import type { OperationTask } from '@baton/task-graph';
import { assignmentOf } from '../domain/assignment';
import { executionToken } from '../domain/token';
import { pendingStatesOf } from '../store/instance-states.sql';
import type { DB } from '../store/tables.gen';
import { leaseMs } from './advance-graph';
import type { EngineDeps } from './deps';
import type { StepContext } from './run-step';

/** The leases of claimed operations with all that their worker needs. */
export async function leasesOf(
  deps: Pick<EngineDeps, 'tokenKey'>,
  tx: Tx<DB>,
  { execution, loaded }: StepContext,
  claimed: readonly number[],
): Promise<executionsRpc.TaskLease[]> {
  if (claimed.length === 0) return [];
  const tasks = claimed.map((idx) => loaded.graph.nodes[idx]!);
  const instances = new Set<string>();
  for (const { spec } of tasks) {
    const payload = (spec as OperationTask).payload;
    instances.add(payload.nodeInstanceId);
    if (payload.relationship) instances.add(payload.relationship.sourceId).add(payload.relationship.targetId);
  }
  const states = await pendingStatesOf(tx, execution.id, [...instances]);
  const token = executionToken(deps.tokenKey, execution.id);
  return tasks.map((node) => {
    const task = node.spec as OperationTask;
    const sides = [
      task.payload.nodeInstanceId,
      task.payload.relationship?.sourceId,
      task.payload.relationship?.targetId,
    ];
    const seen = states.filter((state) => sides.includes(state.node_instance_id));
    return {
      taskId: loaded.ids[task.idx]!,
      executionId: execution.id,
      attempt: node.attempt,
      leaseMs,
      assignmentJson: JSON.stringify(assignmentOf(execution, task, node, token, seen)),
    };
  });
}
