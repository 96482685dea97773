import { executionsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

export interface ActiveExecution {
  id: string;
  workflow_id: string;
  status: string;
}

export interface StartRequest {
  tenant: string;
  /** A repeated request with the same id answers the first execution. */
  requestId: string;
  createdBy: string;
  deploymentId: string;
  deploymentDisplayName: string;
  blueprintId: string;
  visibility: string;
  workflowId: string;
  parameters: Record<string, unknown>;
  force: boolean;
}

/** The executions service as deployments sees it. */
export interface ExecutionsPort {
  active(tenant: string, deploymentId: string): Promise<ActiveExecution[]>;
  /** Starts a system workflow on a deployment; answers the execution's id. */
  startSystemWorkflow(request: StartRequest): Promise<string>;
}

export function createExecutionsClient(rpc: RpcConnector): ExecutionsPort {
  const client = rpc.client(executionsRpc.ExecutionsServiceDefinition, 'executions');
  return {
    async active(tenant, deploymentId) {
      const { executionsJson } = await client.listActiveExecutions({ tenant, deploymentId });
      return executionsJson === '' ? [] : (JSON.parse(executionsJson) as ActiveExecution[]);
    },
    async startSystemWorkflow({ parameters, ...request }) {
      const { executionId } = await client.startExecution({
        ...request,
        parametersJson: JSON.stringify(parameters),
        isSystemWorkflow: true,
        allowCustomParameters: true,
      });
      return executionId;
    },
  };
}
