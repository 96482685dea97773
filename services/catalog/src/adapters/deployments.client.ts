import { deploymentsRpc } from '@baton/contracts';
import type { RpcConnector } from '@baton/rpc';

/** What the catalog asks of deployments. */
export function deploymentsClient(rpc: RpcConnector): {
  listDeployments: (tenant: string, blueprintId: string, limit: number) => Promise<string[]>;
} {
  const client = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
  return {
    listDeployments: async (tenant, blueprintId, limit) =>
      (await client.listDeploymentsOfBlueprint({ tenant, blueprintId, limit })).deploymentIds,
  };
}
