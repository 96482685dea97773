import type { executionsRpc } from '@baton/contracts';
import type { OperationTask } from '@baton/task-graph';
import { assignmentOf } from '../domain/assignment';
import { executionToken } from '../domain/token';
import type { EngineDeps } from './deps';
import type { StepContext } from './run-step';
import { leaseMs } from './task-writes';

/** The leases of claimed operations with all that their worker needs, states included that deployments may not know yet. */
export function leasesOf(
  deps: Pick<EngineDeps, 'tokenKey'>,
  { execution, loaded }: StepContext,
  claimed: readonly number[],
): executionsRpc.TaskLease[] {
  if (claimed.length === 0) return [];
  const token = (loaded.token ??= executionToken(deps.tokenKey, execution.id));
  return claimed.map((idx) => {
    const node = loaded.graph.nodes[idx]!;
    const task = node.spec as OperationTask;
    const { nodeInstanceId, relationship } = task.payload;
    const sides = new Set([nodeInstanceId, relationship?.sourceId, relationship?.targetId]);
    const states = loaded.states.filter((state) => sides.has(state.node_instance_id));
    return {
      taskId: loaded.ids[idx]!,
      executionId: execution.id,
      attempt: node.attempt,
      leaseMs,
      assignmentJson: JSON.stringify(assignmentOf(execution, task, node, token, states)),
    };
  });
}
