import { addressOfWorker, type executionsRpc } from '@baton/contracts';
import { limitAt, type OperationTask } from '@baton/task-graph';
import { digestOfInputs, type HeldLease } from '@baton/trust';
import { agentToken, executionToken } from '../../executions/domain/token';
import type { Ports } from '../../ports';
import type { InstanceStateRow } from '../../store/rows';
import { assignmentOf } from '../domain/assignment';
import type { LoadedGraph } from './graph-memory';
import { leaseMsOf } from './task-writes';
import type { StepContext } from './uncommitted';

/** Returns the leases of claimed operations with all that their worker needs, also the states that deployments may not know yet. */
export function leasesOf(
  deps: Pick<Ports, 'agents' | 'tokenKey' | 'workflowConfig' | 'leases'>,
  { execution, loaded }: StepContext,
  claimed: readonly number[],
  workerId: string,
): executionsRpc.TaskLease[] {
  if (claimed.length === 0) return [];
  const leaseMs = leaseMsOf(deps.agents, workerId);
  const tasks = claimed.map((idx) => loaded.graph.nodes[idx]!.spec as OperationTask);
  const { taskRetries, taskRetryIntervalMs, subgraphRetries } = deps.workflowConfig;
  const retryDefaults = { taskRetries, taskRetryIntervalMs, subgraphRetries };
  const statesOf = statesByInstance(loaded.states, new Set(tasks.flatMap(sidesOf)));
  return claimed.map((idx, i) => {
    const node = loaded.graph.nodes[idx]!;
    const task = tasks[i]!;
    const states = sidesOf(task)
      .flatMap((id) => statesOf.get(id) ?? [])
      .sort((a, b) => a.seq - b.seq);
    const taskId = loaded.ids[idx]!;
    const { attempt } = node;
    const timeLeftMs = timeLeft(node, execution.now_ms);
    return {
      taskId,
      executionId: execution.id,
      attempt,
      leaseMs,
      assignmentJson: JSON.stringify(
        assignmentOf(
          execution,
          task,
          node,
          tokenFor(deps, loaded, workerId, task),
          states,
          timeLeftMs,
          retryDefaults,
        ),
      ),
      proof: deps.leases.prove(heldLease(execution, task, { workerId, taskId, attempt }), leaseMs),
    };
  });
}

/** Returns the token that the operation may use: an agent gets a marked one, which opens less and names what it may change. */
function tokenFor(
  { tokenKey }: Pick<Ports, 'tokenKey'>,
  { tokens, executionId }: LoadedGraph,
  workerId: string,
  task: OperationTask,
): string {
  const address = addressOfWorker(workerId);
  if (address === null) return (tokens.worker ??= executionToken(tokenKey, executionId));
  const instances = [...new Set([...sidesOf(task), hostOf(address)])];
  return agentToken(tokenKey, { executionId, instances });
}

/** Returns the node instance of the host of an agent. A proxy is of another deployment: there the token opens nothing. */
const hostOf = (address: string): string => address.slice(address.indexOf('/') + 1);

/** Returns the content of a lease's proof for other services: for whom the worker acts, and which inputs name its secrets. */
function heldLease(
  execution: StepContext['execution'],
  task: OperationTask,
  { workerId, taskId, attempt }: Pick<HeldLease, 'workerId' | 'taskId' | 'attempt'>,
): HeldLease {
  const { payload } = task;
  return {
    workerId,
    taskId,
    attempt,
    tenant: execution.tenant,
    executionId: execution.id,
    deploymentId: execution.deployment_id ?? '',
    blueprintId: execution.blueprint_id ?? '',
    inputsDigest: payload.hasIntrinsicFunctions ? digestOfInputs(JSON.stringify(payload.inputs)) : '',
    username: execution.created_by,
    instances: sidesOf(task),
  };
}

/** Returns the rest of the time limit of an operation that has waited, ms, at least 1; null: the limit of its plan applies. */
function timeLeft(node: Parameters<typeof limitAt>[0], nowMs: number): number | null {
  const limit = limitAt(node);
  return limit === null ? null : Math.max(1, limit - nowMs);
}

/** Returns the node instances that the operation sees, each once. */
function sidesOf({ payload: { nodeInstanceId, relationship } }: OperationTask): string[] {
  const sides = new Set([nodeInstanceId, relationship?.sourceId, relationship?.targetId]);
  return [...sides].filter((id) => id !== undefined);
}

/** Groups the states of wanted instances in one pass: thousands of states may be undelivered while a wide graph runs. */
function statesByInstance(
  states: readonly InstanceStateRow[],
  wanted: ReadonlySet<string>,
): Map<string, InstanceStateRow[]> {
  const found = new Map<string, InstanceStateRow[]>();
  for (const state of states) {
    const { node_instance_id: id } = state;
    if (!wanted.has(id)) continue;
    const known = found.get(id);
    if (known) known.push(state);
    else found.set(id, [state]);
  }
  return found;
}
