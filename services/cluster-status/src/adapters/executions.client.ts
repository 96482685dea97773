import { executionsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import type { RemainingExecution } from '../domain/maintenance';

/** The most executions in the list shown while activation of maintenance mode waits; the total counts all of them. */
const SHOWN = 1000;

/** The calls to the executions service that maintenance mode needs. */
export interface ExecutionsPort {
  /** Returns the executions of all tenants that have not ended, oldest first, and their total number. */
  unfinished(): Promise<{ executions: RemainingExecution[]; total: number }>;
}

export function createExecutionsClient(rpc: RpcConnector): ExecutionsPort {
  const client = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  return {
    async unfinished() {
      const { executions, total } = await client.listUnfinishedExecutions({ limit: SHOWN });
      return {
        executions: executions.map((one) => ({
          id: one.id,
          status: one.status,
          deployment_id: one.deploymentId === '' ? null : one.deploymentId,
          workflow_id: one.workflowId,
        })),
        total,
      };
    },
  };
}
