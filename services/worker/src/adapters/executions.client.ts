import { executionsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** The engine as this worker calls it. */
export interface ExecutionsClient {
  claim(executionId: string, taskId: string, room: number): Promise<executionsRpc.TaskLease[]>;
  finish(outcomes: executionsRpc.TaskOutcome[], room: number): Promise<executionsRpc.FinishTasksResponse>;
  heartbeat(taskIds: string[], deadlineMs: number): Promise<executionsRpc.HeartbeatResponse>;
  appendEvents(batchId: string, executionId: string, eventsJson: string): Promise<void>;
}

/** `about`: what the worker says of itself in heartbeats. */
export function createExecutionsClient(rpc: RpcConnector, workerId: string, about: object): ExecutionsClient {
  const client = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  const workerJson = JSON.stringify(about);
  return {
    claim: async (executionId, taskId, room) =>
      (await client.claimTask({ workerId, taskId, executionId, room })).leases,
    finish: (outcomes, room) => client.finishTasks({ workerId, outcomes, room }),
    heartbeat: (taskIds, deadlineMs) => client.heartbeat({ workerId, taskIds, workerJson }, { deadlineMs }),
    appendEvents: async (batchId, executionId, eventsJson) => {
      await client.appendEvents({ batchId, executionId, workerId, eventsJson });
    },
  };
}
