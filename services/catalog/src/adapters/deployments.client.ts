import { deploymentsRpc, isAdministrator, type Principal } from '@baton/contracts';
import { isAppError } from '@baton/kernel';
import type { RpcConnector } from '@baton/rpc';

/** What the catalog asks of deployments. */
export interface DeploymentsClient {
  listDeployments(tenant: string, blueprintId: string, limit: number): Promise<string[]>;
  /** @throws AppError not_found_error where the caller sees no such deployment in the tenant of the request */
  requireDeployment(principal: Principal, id: string): Promise<void>;
  seesDeployment(principal: Principal, id: string): Promise<boolean>;
  /** For services that act for themselves. @throws AppError not_found_error */
  requireDeploymentOf(tenant: string, id: string): Promise<void>;
}

export function deploymentsClient(rpc: RpcConnector): DeploymentsClient {
  const client = rpc.client(deploymentsRpc.DeploymentsServiceDefinition, 'deployments');
  const requireDeployment = async (principal: Principal, deploymentId: string): Promise<void> => {
    const { tenant, username } = principal;
    await client.findDeployment({
      tenant,
      deploymentId,
      username,
      isAdministrator: isAdministrator(principal),
    });
  };
  return {
    listDeployments: async (tenant, blueprintId, limit) =>
      (await client.listDeploymentsOfBlueprint({ tenant, blueprintId, limit })).deploymentIds,
    requireDeployment,
    seesDeployment: async (principal, id) => {
      try {
        await requireDeployment(principal, id);
        return true;
      } catch (error) {
        if (isAppError(error, 'not_found_error')) return false;
        throw error;
      }
    },
    requireDeploymentOf: async (tenant, deploymentId) => {
      await client.findDeployment({ tenant, deploymentId });
    },
  };
}
