import { addressOfWorker, type executionsRpc } from '@baton/contracts';
import { badParameter } from '@baton/kernel';
import { lockExecution } from '../../executions/store/executions.sql';
import { byKey, eachAlone } from '../../loops/each-alone';
import { requireNamed } from '../domain/agent-limits';
import type { EnginePorts } from '../ports';
import type { ClaimBatchDeps } from '../steps/claim-batch';
import { leasesOf } from '../steps/leases';
import { runStep } from '../steps/run-step';
import { leaseMsOf } from '../steps/task-writes';
import { type OpenAgentTask, openTasksOf } from '../store/agent-tasks.sql';
import { renewLeases } from '../store/tasks.sql';
import { claimTask } from './claim-task';

type ClaimAgentTasksDeps = Pick<EnginePorts, 'agents' | 'db' | 'leases' | 'log' | 'memory' | 'tokenKey'> &
  ClaimBatchDeps;
type TaskLease = executionsRpc.TaskLease;

/** Limits of one call: no host runs that many operations at once. */
const MAX_ROOM = 1_000;
/** Open operations that one call looks at; the leases of the agent come first. */
const MAX_OPEN = 3_000;

interface Agent {
  workerId: string;
  address: string;
  tenant: string;
}

/**
 * Leases ready operations to their agent, over all executions of its tenant, and settles what it held before. With a new stream,
 * leases of the agent that its journal does not name were never begun, because the journal is written first: they are given
 * again with the same attempt, or given back when their execution does not want them any more. Executions are taken one after
 * the other; one that fails is left for the next call. If this process crashes, the leases of the lost answer are given again
 * with the next stream.
 * @throws AppError bad_parameters_error
 */
export async function claimAgentTasks(
  deps: ClaimAgentTasksDeps,
  request: executionsRpc.ClaimAgentTasksRequest,
): Promise<executionsRpc.ClaimAgentTasksResponse> {
  const agent = agentOfRequest(request);
  const named = heldOf(request);
  const open = await openTasksOf(deps.db.query, agent, MAX_OPEN);
  const mine = open.filter(({ is_held }) => is_held);
  const isNamed = ({ id, attempt }: OpenAgentTask): boolean => named.get(id) === attempt;
  const kept = new Set(mine.filter(isNamed).map(({ id }) => id));
  const lost = [...named.keys()].filter((id) => !kept.has(id));
  const again = request.isNewStream ? await settleUnnamed(deps, agent, mine, isNamed) : [];
  if (request.isNewStream) await renew(deps, agent, [...kept, ...again.map(({ taskId }) => taskId)]);
  const ready = open.filter(({ is_held }) => !is_held);
  const room = Math.min(request.room, MAX_ROOM) - again.length;
  return { leases: [...again, ...(await claimReady(deps, agent, ready, room))], lost };
}

/** Gives the unnamed leases again, or back; returns those given again. */
async function settleUnnamed(
  deps: ClaimAgentTasksDeps,
  agent: Agent,
  mine: readonly OpenAgentTask[],
  isNamed: (task: OpenAgentTask) => boolean,
): Promise<TaskLease[]> {
  const leases: TaskLease[] = [];
  const unnamed = byKey(
    mine.filter((task) => !isNamed(task)),
    (task) => task.execution_id,
  );
  await eachOf(deps, unnamed, async ([executionId, tasks]) => {
    leases.push(...(await leaseAgain(deps, agent, executionId, tasks)));
    const unwanted = tasks.filter(({ is_wanted }) => !is_wanted);
    if (unwanted.length > 0) await giveBack(deps, agent, executionId, unwanted);
  });
  return leases;
}

/** Returns the leases of operations that the agent holds under the lock of the execution, which still wants them. */
async function leaseAgain(
  deps: ClaimAgentTasksDeps,
  { workerId }: Agent,
  executionId: string,
  tasks: readonly OpenAgentTask[],
): Promise<TaskLease[]> {
  const wanted = tasks.filter(({ is_wanted }) => is_wanted);
  if (wanted.length === 0) return [];
  return await deps.turns.take(executionId, () =>
    deps.db.tx(async (tx) => {
      const execution = await lockExecution(tx, executionId);
      if (execution?.phase !== 'running' || !execution.graph_id) return [];
      const loaded = await deps.memory.load(tx, execution);
      if (loaded.graph.flags.cancel !== null) return [];
      const idxs = wanted.flatMap(({ id, attempt }) => {
        const idx = loaded.idxById.get(id);
        if (idx === undefined || loaded.holders.get(idx) !== workerId) return [];
        return loaded.graph.nodes[idx]!.attempt === attempt ? [idx] : [];
      });
      return leasesOf(deps, { execution, loaded }, idxs, workerId);
    }),
  );
}

/** Ends leases of operations that never began and that nobody wants any more. */
async function giveBack(
  deps: ClaimAgentTasksDeps,
  { workerId }: Agent,
  executionId: string,
  tasks: readonly OpenAgentTask[],
): Promise<void> {
  await runStep(
    deps,
    executionId,
    ({ loaded }) => {
      const happenings = tasks.flatMap(({ id, attempt }) => {
        const idx = loaded.idxById.get(id);
        const isHeld = idx !== undefined && loaded.holders.get(idx) === workerId;
        return isHeld ? [{ kind: 'lost' as const, idx, attempt, isUnwanted: true as const }] : [];
      });
      return happenings.length > 0 ? { happenings } : null;
    },
    { alsoEnded: true },
  );
}

async function renew(deps: ClaimAgentTasksDeps, { workerId }: Agent, ids: readonly string[]): Promise<void> {
  if (ids.length > 0) await renewLeases(deps.db.query, workerId, ids, leaseMsOf(deps.agents, workerId));
}

/** Claims ready operations, execution by execution in the order of their oldest operation, up to `room`. */
async function claimReady(
  deps: ClaimAgentTasksDeps,
  { workerId }: Agent,
  ready: readonly OpenAgentTask[],
  room: number,
): Promise<TaskLease[]> {
  const leases: TaskLease[] = [];
  if (room <= 0) return leases;
  await eachOf(
    deps,
    byKey(ready, (task) => task.execution_id),
    async ([executionId, [oldest]]) => {
      const left = room - leases.length;
      if (left <= 0) return;
      leases.push(...(await claimTask(deps, { workerId, executionId, taskId: oldest!.id, room: left })));
    },
  );
  return leases;
}

/** Does the work of each execution; one that fails does not take the leases of the others from the answer. */
const eachOf = (
  { log }: Pick<ClaimAgentTasksDeps, 'log'>,
  groups: ReadonlyMap<string, readonly OpenAgentTask[]>,
  work: (group: [string, readonly OpenAgentTask[]]) => Promise<void>,
): Promise<void> =>
  eachAlone(groups, work, {
    onFailed: ([executionId], err) => log.warn({ err, executionId }, 'an agent gets its operations later'),
  }).catch(() => undefined);

function agentOfRequest({ workerId }: executionsRpc.ClaimAgentTasksRequest): Agent {
  const address = addressOfWorker(workerId);
  const slash = address?.indexOf('/') ?? -1;
  if (address === null || slash < 1)
    throw badParameter('worker_id', `${workerId} is no agent: expected agent:<tenant>/<node instance>`);
  return { workerId, address, tenant: address.slice(0, slash) };
}

/** Returns attempts by task id. */
function heldOf({ workerId, held }: executionsRpc.ClaimAgentTasksRequest): Map<string, number> {
  requireNamed(
    workerId,
    'held',
    held.map(({ taskId }) => taskId),
  );
  return new Map(held.map(({ taskId, attempt }) => [taskId, attempt]));
}
