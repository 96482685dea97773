import { executionsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';
import type { RemainingExecution } from '../domain/maintenance';

/** Shown to whoever waits for maintenance mode; all are counted. */
const SHOWN = 1000;

/** The executions service as maintenance mode sees it. */
export interface ExecutionsPort {
  /** Executions of any tenant that have not ended, oldest first, and how many they are. */
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
