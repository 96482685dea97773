import { executionsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import { createExecutionsClient, type ExecutionsClient } from '@baton/worker/parts';

/** Part of a lease after which the worker's guard kills an operation (MARGIN_SHARE of services/worker). */
const HELD_SHARE = 0.8;

export interface AgentExecutions extends ExecutionsClient {
  /** Leases for the agent, over all executions; settles what it held before. */
  claimAll(asked: {
    room: number;
    isNewStream: boolean;
    held: { taskId: string; attempt: number }[];
  }): Promise<executionsRpc.ClaimAgentTasksResponse>;
}

/**
 * The calls of the agent to the engine. Only this agent can get the operations of its host again, so a cut needs no margin for
 * another worker: leases are counted in full, up to `graceMs` without a word of the manager. Without operations nothing is
 * renewed. `onDoubt`: the answer to a report was lost, and perhaps new leases with it.
 */
export function createAgentExecutions(
  rpc: RpcConnector,
  workerId: string,
  o: { about: object; graceMs(): number; onDoubt(): void },
): AgentExecutions {
  const calls = createExecutionsClient(rpc, workerId, o.about);
  const client = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  const counted = (leases: executionsRpc.TaskLease[]): executionsRpc.TaskLease[] =>
    leases.map((lease) => ({ ...lease, leaseMs: Math.max(lease.leaseMs, o.graceMs()) / HELD_SHARE }));
  return {
    ...calls,
    claim: async (...asked) => counted(await calls.claim(...asked)),
    finish: async (...told) => {
      const answer = await calls.finish(...told).catch((error: unknown) => {
        o.onDoubt();
        throw error;
      });
      return { ...answer, leases: counted(answer.leases) };
    },
    heartbeat: (taskIds, ...rest) =>
      taskIds.length === 0
        ? Promise.resolve({ lost: [], kill: [], proofs: {}, weights: {} })
        : calls.heartbeat(taskIds, ...rest),
    claimAll: async (asked) => {
      const answer = await client.claimAgentTasks({ workerId, ...asked });
      return { ...answer, leases: counted(answer.leases) };
    },
  };
}
