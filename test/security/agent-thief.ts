/** What a thief does through the stream of an agent. */
import { agentWorkerId, executionsRpc } from '@baton/contracts';
import { eventually } from '@baton/testkit';
import type { AgentStream, CallAnswer } from '../hosts/client/stream';
import { DEADLINE, type Prey, type Started } from './agent-prey';

export const EXECUTIONS = 'executions/baton.executions.v1.ExecutionsService';
export const DEPLOYMENTS = 'deployments/baton.deployments.v1.DeploymentsService';
export const CATALOG = 'catalog/baton.catalog.v1.CatalogService';

/** Worker id of the agent of a host. */
export const workerOf = (tenant: string, instance: string): string => agentWorkerId(`${tenant}/${instance}`);

/** The code of a refusal. @throws Error when it was no refusal */
export function refusal(answer: CallAnswer): string {
  if ('code' in answer) return answer.code;
  throw new Error(`it was answered: ${answer.body.toString('latin1').slice(0, 200)}`);
}

export const claimTask = (
  stream: AgentStream,
  workerId: string,
  { execution, task }: Started,
): Promise<CallAnswer> =>
  stream.call(
    `${EXECUTIONS}/ClaimTask`,
    executionsRpc.ClaimTaskRequest.encode(
      executionsRpc.ClaimTaskRequest.fromPartial({
        workerId,
        executionId: execution,
        taskId: task,
        room: 50,
      }),
    ).finish(),
  );

export const claimAll = (stream: AgentStream, workerId: string): Promise<CallAnswer> =>
  stream.call(
    `${EXECUTIONS}/ClaimAgentTasks`,
    executionsRpc.ClaimAgentTasksRequest.encode(
      executionsRpc.ClaimAgentTasksRequest.fromPartial({ workerId, room: 50, isNewStream: true }),
    ).finish(),
  );

type Lease = executionsRpc.TaskLease;

/** Leases of an answer. @throws Error for a refusal */
export function leasesOf(answer: CallAnswer): Lease[] {
  if ('code' in answer) throw new Error(`${answer.code}: ${answer.message}`);
  return executionsRpc.ClaimAgentTasksResponse.decode(answer.body).leases;
}

/** Starts an operation of the thief's own host and takes it: what he may have. */
export async function ownLease(
  { caller, ids, start }: Prey,
  stream: AgentStream,
): Promise<Lease & { assignment: Record<string, unknown> & { executionToken: string } }> {
  const { task } = await start(caller.admin, 'app_a');
  const lease = await eventually(async () => {
    const answer = await claimAll(stream, workerOf('default_tenant', ids.host_a!));
    const found = leasesOf(answer).find((one) => one.taskId === task);
    if (!found) throw new Error('the operation is not ready yet');
    return found;
  }, DEADLINE);
  return { ...lease, assignment: JSON.parse(lease.assignmentJson) };
}
